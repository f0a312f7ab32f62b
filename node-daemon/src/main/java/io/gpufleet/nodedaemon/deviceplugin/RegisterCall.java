package io.gpufleet.nodedaemon.deviceplugin;

import io.gpufleet.nodedaemon.model.KubeletSocket;
import io.gpufleet.proto.kubelet.deviceplugin.RegisterRequest;
import io.gpufleet.proto.kubelet.deviceplugin.RegistrationGrpcClient;
import io.vertx.core.Future;
import io.vertx.core.net.SocketAddress;
import io.vertx.grpc.client.GrpcClient;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** Calls Register on kubelet.sock and names our socket, which lies beside it. */
final class RegisterCall implements Way {
    /** The kubelet dials us before it answers, and may take its time after a start. */
    private static final long DEADLINE_SECONDS = 15;

    private final GrpcClient client;
    private final SocketAddress kubelet;
    private final ServedSocket socket;
    private final String resource;

    RegisterCall(GrpcClient client, Path kubeletSocket, ServedSocket socket, String resource) {
        this.client = client;
        this.kubelet = SocketAddress.domainSocketAddress(kubeletSocket.toString());
        this.socket = socket;
        this.resource = resource;
    }

    /** A starting kubelet deletes every socket in its directory, ours too: then it is served anew. */
    @Override
    public Future<?> register(KubeletSocket.Present kubelet) {
        return socket.served().compose(this::call);
    }

    private Future<?> call(Path served) {
        var request = RegisterRequest.newBuilder()
                .setVersion(PluginServer.VERSION)
                .setEndpoint(served.getFileName().toString())
                .setResourceName(resource)
                .build();
        return client.request(kubelet, RegistrationGrpcClient.Register)
                .compose(call -> {
                    call.timeout(DEADLINE_SECONDS, TimeUnit.SECONDS);
                    return call.send(request);
                })
                .compose(response -> response.last());
    }

    @Override
    public void looked(KubeletSocket seen) {
        // What it means for a call in flight, the call itself will tell.
    }
}
