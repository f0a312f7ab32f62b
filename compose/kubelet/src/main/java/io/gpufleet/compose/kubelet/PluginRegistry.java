package io.gpufleet.compose.kubelet;

import io.gpufleet.proto.kubelet.deviceplugin.Empty;
import io.gpufleet.proto.kubelet.deviceplugin.RegisterRequest;
import io.gpufleet.proto.kubelet.deviceplugin.RegistrationGrpcService;
import io.gpufleet.proto.kubelet.deviceplugin.RegistrationService;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.grpc.common.GrpcStatus;
import io.vertx.grpc.server.Service;
import io.vertx.grpc.server.StatusException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers Register and keeps one connection a resource name. Clients are keyed by the name alone, so that the end of
 * an old stream tears down a newer client: kubelets up to 1.35 do so, and a plugin has to live with it.
 */
final class PluginRegistry extends RegistrationService {
    private static final Logger LOG = LoggerFactory.getLogger(PluginRegistry.class);
    private static final String VERSION = "v1beta1";

    private final Vertx vertx;
    private final Path directory;
    private final DeviceBook book;
    private final Duration grace;
    private final Runnable changed;
    private final Map<String, Plugin> plugins = new ConcurrentHashMap<>();
    private final Map<String, Integer> counts = new ConcurrentHashMap<>();

    PluginRegistry(Vertx vertx, Path directory, DeviceBook book, Duration grace, Runnable changed) {
        this.vertx = vertx;
        this.directory = directory;
        this.book = book;
        this.grace = grace;
        this.changed = changed;
    }

    /** To be served on kubelet.sock. */
    Service service() {
        return RegistrationGrpcService.of(this);
    }

    Optional<Plugin> plugin(String resource) {
        return Optional.ofNullable(plugins.get(resource));
    }

    int registrations(String resource) {
        return counts.getOrDefault(resource, 0);
    }

    /** Dials the plugin and asks for its options before it answers, so a plugin must serve before it registers. */
    @Override
    public Future<Empty> register(RegisterRequest request) {
        return connect(request.getResourceName(), directory.resolve(request.getEndpoint()), request.getVersion())
                .map(Empty.getDefaultInstance())
                .recover(failure -> Future.failedFuture(
                        new StatusException(GrpcStatus.UNKNOWN, String.valueOf(failure.getMessage()))));
    }

    /** Connects to a plugin, whichever way it was found; fails with the kubelet's words. */
    Future<Plugin> connect(String resource, Path endpoint, String version) {
        if (!version.equals(VERSION)) {
            return Future.failedFuture("requested API version \"" + version
                    + "\" is not supported by kubelet. Supported version is [\"" + VERSION + "\"]");
        }
        if (!ExtendedResources.isName(resource)) {
            return Future.failedFuture("the ResourceName \"" + resource + "\" is invalid");
        }
        var plugin = new Plugin(vertx, endpoint);
        return plugin.connect()
                .onSuccess(options -> accept(resource, plugin))
                .map(plugin)
                .recover(failure -> {
                    plugin.close();
                    return Future.failedFuture("failed to dial device plugin: " + failure.getMessage());
                });
    }

    /** The plugin's socket is gone from the watched directory; whoever has the resource now is hung up on. */
    void disconnect(String resource) {
        Plugin current = plugins.get(resource);
        if (current != null) {
            ended(resource, current);
        }
    }

    /** Ends every connection; used when the kubelet goes away. */
    void hangUp() throws IOException {
        List<Plugin> closing = new ArrayList<>(plugins.values());
        plugins.clear();
        for (Plugin plugin : closing) {
            UnixServer.await(plugin.close());
        }
    }

    private void accept(String resource, Plugin plugin) {
        plugins.put(resource, plugin);
        counts.merge(resource, 1, Integer::sum);
        book.connected(resource);
        LOG.atInfo().addKeyValue("resource", resource).log("plugin registered");
        plugin.watch(devices -> listed(resource, devices), () -> ended(resource, plugin));
    }

    /** Whose list it is does not count, as long as anybody has the resource: an older stream's replaces a newer one's. */
    private void listed(String resource, List<ResourceView.Device> devices) {
        if (plugins.containsKey(resource)) {
            book.listed(resource, devices);
            offLoop();
        }
    }

    private void ended(String resource, Plugin old) {
        old.close();
        Plugin current = plugins.remove(resource);
        if (current == null) {
            // The kubelet itself hung up.
            return;
        }
        current.close();
        book.disconnected(resource);
        LOG.atInfo().addKeyValue("resource", resource).log("plugin went away");
        vertx.setTimer(grace.toMillis(), timer -> {
            if (book.dropIfDisconnected(resource)) {
                offLoop();
            }
        });
        offLoop();
    }

    /** Listeners write files and may wait; the event loop must not. */
    private void offLoop() {
        vertx.executeBlocking(() -> {
            changed.run();
            return true;
        });
    }
}
