package io.gpufleet.nodedaemon.deviceplugin;

import io.gpufleet.nodedaemon.model.registration.KubeletSocket;
import io.gpufleet.proto.kubelet.UnaryCalls;
import io.gpufleet.proto.kubelet.deviceplugin.RegisterRequest;
import io.gpufleet.proto.kubelet.deviceplugin.RegistrationGrpcClient;
import io.vertx.core.Future;
import java.nio.file.Path;
import java.time.Duration;

/** Registers by a Register call on kubelet.sock with the name of our socket, which is in the same directory. */
final class RegisterCallRegistrar implements KubeletRegistrar {
    /** The kubelet connects to our socket before it responds, which may take a while after its start. */
    private static final Duration DEADLINE = Duration.ofSeconds(15);

    private final UnaryCalls calls;
    private final Path kubelet;
    private final PluginSocket socket;
    private final String resource;

    RegisterCallRegistrar(UnaryCalls calls, Path kubeletSocket, PluginSocket socket, String resource) {
        this.calls = calls;
        this.kubelet = kubeletSocket;
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
        return calls.call(kubelet, RegistrationGrpcClient.Register, request, DEADLINE);
    }

    @Override
    public void socketObserved(KubeletSocket seen) {
        // A call in flight fails by itself when the kubelet restarts.
    }
}
