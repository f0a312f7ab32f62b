package io.gpufleet.testbed.fakekubelet;

import io.gpufleet.proto.kubelet.UnixSocketGrpc;
import io.gpufleet.proto.kubelet.pluginregistration.InfoRequest;
import io.gpufleet.proto.kubelet.pluginregistration.PluginInfo;
import io.gpufleet.proto.kubelet.pluginregistration.RegistrationGrpcClient;
import io.gpufleet.proto.kubelet.pluginregistration.RegistrationStatus;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.net.SocketAddress;
import io.vertx.grpc.client.GrpcClient;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The kubelet's plugin watcher: once a second it scans a directory and those below it for sockets. It connects to each
 * socket once; a removed one is deregistered by the name of its resource, whichever plugin has that.
 */
final class PluginWatcher implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(PluginWatcher.class);
    private static final long RECONCILE_MILLIS = 1_000;
    private static final long INFO_SECONDS = 1;
    private static final long NOTIFY_SECONDS = 5;

    private final Vertx vertx;
    private final Context context;
    private final Path directory;
    private final PluginRegistry registry;
    private final Map<Path, String> registered = new HashMap<>();
    private final Set<Path> inFlight = new HashSet<>();
    private final long timer;
    private volatile boolean closed;

    /** Scans for the first time at once. */
    PluginWatcher(Vertx vertx, Path directory, PluginRegistry registry) {
        this.vertx = vertx;
        this.context = vertx.getOrCreateContext();
        this.directory = directory;
        this.registry = registry;
        this.timer = vertx.setPeriodic(0, RECONCILE_MILLIS, _ -> scan());
    }

    private void scan() {
        vertx.executeBlocking(this::sockets)
                .onSuccess(found -> context.runOnContext(_ -> reconcile(found)))
                .onFailure(failed -> LOG.atWarn()
                        .addKeyValue("directory", directory)
                        .addKeyValue("error", failed)
                        .log("plugins_registry cannot be read"));
    }

    private Set<Path> sockets() throws IOException {
        var found = new HashSet<Path>();
        try (var files = Files.walk(directory)) {
            for (Path file : files.toList()) {
                if (!file.getFileName().toString().startsWith(".")
                        && Files.exists(file)
                        && SocketFileDetector.isSocket(file)) {
                    found.add(file);
                }
            }
        }
        return found;
    }

    /** Removed sockets first, as the kubelet does. */
    private void reconcile(Set<Path> found) {
        if (closed) {
            return;
        }
        Map.copyOf(registered).forEach((socket, resource) -> {
            if (!found.contains(socket)) {
                registered.remove(socket);
                registry.disconnect(resource);
            }
        });
        found.stream()
                .filter(socket -> !registered.containsKey(socket) && inFlight.add(socket))
                .forEach(socket -> register(socket)
                        .onFailure(failed -> LOG.atWarn()
                                .addKeyValue("socket", socket)
                                .addKeyValue("error", failed.getMessage())
                                .log("plugin not registered"))
                        .onComplete(_ -> inFlight.remove(socket)));
    }

    private Future<Boolean> register(Path socket) {
        // The authority of the kubelet's connections to paths.
        var client = UnixSocketGrpc.client(vertx, URLEncoder.encode(socket.toString(), StandardCharsets.UTF_8));
        var address = SocketAddress.domainSocketAddress(socket.toString());
        return client.request(address, RegistrationGrpcClient.GetInfo)
                .compose(call -> {
                    call.timeout(INFO_SECONDS, TimeUnit.SECONDS);
                    return call.send(InfoRequest.getDefaultInstance());
                })
                .compose(answer -> answer.last())
                .compose(info -> accept(socket, info)
                        .compose(
                                _ -> notify(client, address, true, ""),
                                refused -> notify(client, address, false, String.valueOf(refused.getMessage()))))
                .eventually(client::close);
    }

    private Future<PluginConnection> accept(Path socket, PluginInfo info) {
        if (!info.getType().equals("DevicePlugin")) {
            return Future.failedFuture("RegisterPlugin error -- no handler registered for plugin type: "
                    + info.getType() + " at socket " + socket);
        }
        if (closed) {
            return Future.failedFuture("the kubelet stops");
        }
        Path endpoint = info.getEndpoint().isEmpty() ? socket : Path.of(info.getEndpoint());
        String version = info.getSupportedVersionsCount() == 0 ? "" : info.getSupportedVersions(0);
        return registry.connect(info.getName(), endpoint, version)
                .onSuccess(_ -> registered.put(socket, info.getName()));
    }

    private static Future<Boolean> notify(GrpcClient client, SocketAddress address, boolean well, String error) {
        return client.request(address, RegistrationGrpcClient.NotifyRegistrationStatus)
                .compose(call -> {
                    call.timeout(NOTIFY_SECONDS, TimeUnit.SECONDS);
                    return call.send(RegistrationStatus.newBuilder()
                            .setPluginRegistered(well)
                            .setError(error)
                            .build());
                })
                .compose(answer -> answer.last())
                .compose(_ -> well ? Future.succeededFuture(true) : Future.failedFuture(error));
    }

    @Override
    public void close() {
        closed = true;
        vertx.cancelTimer(timer);
    }
}
