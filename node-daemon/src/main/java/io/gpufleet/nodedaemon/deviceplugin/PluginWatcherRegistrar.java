package io.gpufleet.nodedaemon.deviceplugin;

import io.gpufleet.nodedaemon.model.registration.KubeletSocket;
import io.gpufleet.nodedaemon.model.registration.KubeletSocket.Present;
import io.gpufleet.proto.kubelet.pluginregistration.PluginInfo;
import io.gpufleet.proto.kubelet.pluginregistration.RegistrationGrpcService;
import io.gpufleet.proto.kubelet.pluginregistration.RegistrationStatus;
import io.gpufleet.proto.kubelet.pluginregistration.RegistrationStatusResponse;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.grpc.server.GrpcServer;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * Registers through the kubelet's plugin watcher: serves a socket in the plugins_registry directory and waits for the
 * kubelet, which scans the directory every second. It connects to a socket once, so a new registration with the same
 * kubelet needs a new socket.
 */
final class PluginWatcherRegistrar implements KubeletRegistrar {
    private static final long TIMEOUT_MILLIS = TimeUnit.SECONDS.toMillis(15);

    private final Vertx vertx;
    private final PluginSocket socket;
    private final String resource;
    private final Path directory;
    private KubeletSocket publishedFor = new KubeletSocket.Absent();
    private KubeletSocket latest = new KubeletSocket.Absent();
    private Promise<Boolean> registered = Promise.promise();
    private volatile String endpoint = "";

    PluginWatcherRegistrar(Vertx vertx, PluginSocket socket, String resource, Path directory) {
        this.vertx = vertx;
        this.socket = socket;
        this.resource = resource;
        this.directory = directory;
    }

    /** Adds the plugin watcher's Registration service to the device plugin's server. */
    void serve(GrpcServer grpc) {
        grpc.callHandler(
                RegistrationGrpcService.GetInfo,
                call -> call.handler(_ -> call.response()
                        .end(PluginInfo.newBuilder()
                                .setType("DevicePlugin")
                                .setName(resource)
                                .setEndpoint(endpoint)
                                .addSupportedVersions(DevicePluginServer.VERSION)
                                .build())));
        grpc.callHandler(
                RegistrationGrpcService.NotifyRegistrationStatus,
                call -> call.handler(status -> {
                    registrationStatus(status);
                    call.response().end(RegistrationStatusResponse.getDefaultInstance());
                }));
    }

    private void registrationStatus(RegistrationStatus status) {
        if (status.getPluginRegistered()) {
            registered.tryComplete(true);
        } else {
            registered.tryFail("kubelet: " + status.getError());
        }
    }

    @Override
    public Future<?> register(Present kubelet) {
        boolean anotherKubelet = !kubelet.equals(publishedFor);
        publishedFor = kubelet;
        Promise<Boolean> result = Promise.promise();
        registered = result;
        long timer = vertx.setTimer(
                TIMEOUT_MILLIS,
                _ -> result.tryFail("kubelet did not connect to the socket in " + directory
                        + "; is that its plugins_registry directory?"));
        Future<Path> served = anotherKubelet ? socket.ensureServed() : socket.reopen();
        served.onSuccess(path -> endpoint = path.toString()).onFailure(result::tryFail);
        return result.future().onComplete(_ -> vertx.cancelTimer(timer));
    }

    /** Fails the registration in flight if the kubelet restarted. */
    @Override
    public void socketObserved(KubeletSocket seen) {
        if (seen instanceof Present && !seen.equals(latest) && latest instanceof Present) {
            registered.tryFail("kubelet restarted");
        }
        latest = seen;
    }
}
