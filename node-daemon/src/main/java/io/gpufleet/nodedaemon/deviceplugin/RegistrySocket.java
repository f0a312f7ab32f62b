package io.gpufleet.nodedaemon.deviceplugin;

import io.gpufleet.nodedaemon.model.KubeletSocket;
import io.gpufleet.nodedaemon.model.KubeletSocket.Present;
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
 * Lays our socket into the plugins_registry directory and waits for the kubelet, which looks there every second and, at
 * its start, at all that lies there. It comes to a socket once: to be asked again by the same kubelet takes a new one.
 */
final class RegistrySocket implements Way {
    private static final long PATIENCE_MILLIS = TimeUnit.SECONDS.toMillis(15);

    private final Vertx vertx;
    private final ServedSocket socket;
    private final String resource;
    private final Path directory;
    private KubeletSocket laidFor = new KubeletSocket.Absent();
    private KubeletSocket newest = new KubeletSocket.Absent();
    private Promise<Boolean> coming = Promise.promise();
    private volatile String endpoint = "";

    RegistrySocket(Vertx vertx, ServedSocket socket, String resource, Path directory) {
        this.vertx = vertx;
        this.socket = socket;
        this.resource = resource;
        this.directory = directory;
    }

    /** Adds what the kubelet asks here to what it asks of a device plugin, on one socket. */
    void serve(GrpcServer grpc) {
        grpc.callHandler(
                RegistrationGrpcService.GetInfo,
                call -> call.handler(_ -> call.response()
                        .end(PluginInfo.newBuilder()
                                .setType("DevicePlugin")
                                .setName(resource)
                                .setEndpoint(endpoint)
                                .addSupportedVersions(PluginServer.VERSION)
                                .build())));
        grpc.callHandler(
                RegistrationGrpcService.NotifyRegistrationStatus,
                call -> call.handler(status -> {
                    told(status);
                    call.response().end(RegistrationStatusResponse.getDefaultInstance());
                }));
    }

    private void told(RegistrationStatus status) {
        if (status.getPluginRegistered()) {
            coming.tryComplete(true);
        } else {
            coming.tryFail("the kubelet says: " + status.getError());
        }
    }

    @Override
    public Future<?> register(Present kubelet) {
        boolean anotherKubelet = !kubelet.equals(laidFor);
        laidFor = kubelet;
        Promise<Boolean> answer = Promise.promise();
        coming = answer;
        long timer = vertx.setTimer(
                PATIENCE_MILLIS,
                _ -> answer.tryFail(
                        "it did not come to the socket in " + directory + "; is that its plugins_registry directory?"));
        Future<Path> laid = anotherKubelet ? socket.served() : socket.anew();
        laid.onSuccess(path -> endpoint = path.toString()).onFailure(answer::tryFail);
        return answer.future().onComplete(_ -> vertx.cancelTimer(timer));
    }

    /** A kubelet that started meanwhile is another one to wait for. */
    @Override
    public void looked(KubeletSocket seen) {
        if (seen instanceof Present && !seen.equals(newest) && newest instanceof Present) {
            coming.tryFail("the kubelet started anew");
        }
        newest = seen;
    }
}
