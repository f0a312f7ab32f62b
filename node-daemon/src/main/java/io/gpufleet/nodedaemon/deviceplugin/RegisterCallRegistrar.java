package io.gpufleet.nodedaemon.deviceplugin;

import io.gpufleet.nodedaemon.model.registration.KubeletSocket;
import io.gpufleet.proto.kubelet.deviceplugin.RegisterRequest;
import io.gpufleet.proto.kubelet.deviceplugin.RegistrationGrpcClient;
import io.vertx.core.Future;
import io.vertx.core.net.SocketAddress;
import io.vertx.grpc.client.GrpcClient;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** Registers by a Register call on kubelet.sock with the name of our socket, which is in the same directory. */
final class RegisterCallRegistrar implements KubeletRegistrar {
    /** The kubelet connects to our socket before it responds, which may take a while after its start. */
    private static final long DEADLINE_SECONDS = 15;

    private final GrpcClient client;
    private final SocketAddress kubelet;
    private final PluginSocket socket;
    private final String resource;

    RegisterCallRegistrar(GrpcClient client, Path kubeletSocket, PluginSocket socket, String resource) {
        this.client = client;
        this.kubelet = SocketAddress.domainSocketAddress(kubeletSocket.toString());
        this.socket = socket;
        this.resource = resource;
    }

    /** Serves a new socket first if needed: a starting kubelet deletes every socket in its directory. */
    @Override
    public Future<?> register(KubeletSocket.Present kubelet) {
        return socket.ensureServed().compose(this::call);
    }

    private Future<?> call(Path served) {
        var request = RegisterRequest.newBuilder()
                .setVersion(DevicePluginServer.VERSION)
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
    public void socketObserved(KubeletSocket seen) {
        // A call in flight fails by itself when the kubelet restarts.
    }
}
