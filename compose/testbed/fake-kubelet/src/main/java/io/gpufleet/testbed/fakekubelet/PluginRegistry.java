package io.gpufleet.testbed.fakekubelet;

import io.gpufleet.proto.kubelet.deviceplugin.Empty;
import io.gpufleet.proto.kubelet.deviceplugin.RegisterRequest;
import io.gpufleet.proto.kubelet.deviceplugin.RegistrationGrpcService;
import io.gpufleet.proto.kubelet.deviceplugin.RegistrationService;
import io.vertx.core.Future;
import io.vertx.core.Promise;
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
 * Answers Register and keeps one connection per resource name. Clients are keyed by the name alone, so that the end of
 * an old stream tears down a newer client, as in kubelets up to 1.35.
 */
final class PluginRegistry extends RegistrationService {
    private static final Logger LOG = LoggerFactory.getLogger(PluginRegistry.class);
    private static final String VERSION = "v1beta1";

    private final Vertx vertx;
    private final Path directory;
    private final DeviceInventory inventory;
    private final Duration grace;
    private final Runnable changed;
    private final Map<String, PluginConnection> plugins = new ConcurrentHashMap<>();
    private final Map<String, Integer> registrationCounts = new ConcurrentHashMap<>();
    private volatile RegisterBehaviour response = RegisterBehaviour.CONNECT;

    PluginRegistry(Vertx vertx, Path directory, DeviceInventory inventory, Duration grace, Runnable changed) {
        this.vertx = vertx;
        this.directory = directory;
        this.inventory = inventory;
        this.grace = grace;
        this.changed = changed;
    }

    /** The service of kubelet.sock. */
    Service service() {
        return RegistrationGrpcService.of(this);
    }

    Optional<PluginConnection> plugin(String resource) {
        return Optional.ofNullable(plugins.get(resource));
    }

    int registrations(String resource) {
        return registrationCounts.getOrDefault(resource, 0);
    }

    /** Connects to the plugin and gets its options before it answers, so a plugin must serve before it registers. */
    @Override
    public Future<Empty> register(RegisterRequest request) {
        return switch (response) {
            case CONNECT -> connectAndAnswer(request);
            case CONNECT_LATER -> Future.succeededFuture(Empty.getDefaultInstance());
            case FAIL -> Future.failedFuture(new StatusException(GrpcStatus.UNKNOWN, "the kubelet is starting"));
            case NONE -> Promise.<Empty>promise().future();
        };
    }

    void respondToRegister(RegisterBehaviour with) {
        response = with;
    }

    private Future<Empty> connectAndAnswer(RegisterRequest request) {
        return connect(request.getResourceName(), directory.resolve(request.getEndpoint()), request.getVersion())
                .map(Empty.getDefaultInstance())
                .recover(failure -> Future.failedFuture(
                        new StatusException(GrpcStatus.UNKNOWN, String.valueOf(failure.getMessage()))));
    }

    /** Connects to a plugin, registered or found by its socket; fails with the kubelet's message. */
    Future<PluginConnection> connect(String resource, Path endpoint, String version) {
        if (!version.equals(VERSION)) {
            return Future.failedFuture("requested API version \"" + version
                    + "\" is not supported by kubelet. Supported version is [\"" + VERSION + "\"]");
        }
        if (!ExtendedResourceNames.isValid(resource)) {
            return Future.failedFuture("the ResourceName \"" + resource + "\" is invalid");
        }
        var plugin = new PluginConnection(vertx, endpoint);
        return plugin.connect()
                .onSuccess(options -> onConnected(resource, plugin))
                .map(plugin)
                .recover(failure -> {
                    plugin.close();
                    return Future.failedFuture("failed to dial device plugin: " + failure.getMessage());
                });
    }

    /**
     * Handles a socket removed from the watched directory: closes the connection of the resource, whichever plugin has
     * it.
     */
    void disconnect(String resource) {
        PluginConnection current = plugins.get(resource);
        if (current != null) {
            onStreamEnded(resource, current);
        }
    }

    /** Ends every connection when the kubelet stops. */
    void closeAll() throws IOException {
        List<PluginConnection> closing = new ArrayList<>(plugins.values());
        plugins.clear();
        for (PluginConnection plugin : closing) {
            UnixSocketServer.await(plugin.close());
        }
    }

    private void onConnected(String resource, PluginConnection plugin) {
        plugins.put(resource, plugin);
        registrationCounts.merge(resource, 1, Integer::sum);
        inventory.pluginConnected(resource);
        LOG.atInfo().addKeyValue("resource", resource).log("plugin registered");
        plugin.watch(devices -> onDeviceList(resource, devices), () -> onStreamEnded(resource, plugin));
    }

    /**
     * As long as a plugin has the resource, a list of any stream counts: one of an older stream replaces that of a
     * newer one.
     */
    private void onDeviceList(String resource, List<AdvertisedResource.Device> devices) {
        if (plugins.containsKey(resource)) {
            inventory.setDevices(resource, devices);
            notifyOffEventLoop();
        }
    }

    private void onStreamEnded(String resource, PluginConnection old) {
        old.close();
        PluginConnection current = plugins.remove(resource);
        if (current == null) {
            // The kubelet closed the connection.
            return;
        }
        current.close();
        inventory.pluginDisconnected(resource);
        LOG.atInfo().addKeyValue("resource", resource).log("plugin disconnected");
        vertx.setTimer(grace.toMillis(), timer -> {
            if (inventory.dropIfDisconnected(resource)) {
                notifyOffEventLoop();
            }
        });
        notifyOffEventLoop();
    }

    /** Listeners write files and may block; the event loop must not. */
    private void notifyOffEventLoop() {
        vertx.executeBlocking(() -> {
            changed.run();
            return true;
        });
    }
}
