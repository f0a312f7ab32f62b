package io.gpufleet.nodedaemon.deviceplugin;

import io.gpufleet.nodedaemon.model.registration.KubeletSocket;
import io.gpufleet.proto.kubelet.KubeletMethods;
import io.gpufleet.proto.kubelet.UnixGrpcClient;
import io.gpufleet.proto.kubelet.deviceplugin.RegisterRequest;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletionStage;

/** Registers by a Register call on kubelet.sock with the name of our socket, which is in the same directory. */
final class RegisterCallRegistrar implements KubeletRegistrar {
    /** The kubelet connects to our socket before it responds, which may take a while after its start. */
    private static final Duration DEADLINE = Duration.ofSeconds(15);

    private final UnixGrpcClient calls;
    private final Path kubelet;
    private final PluginSocket socket;
    private final String resource;

    RegisterCallRegistrar(UnixGrpcClient calls, Path kubeletSocket, PluginSocket socket, String resource) {
        this.calls = calls;
        this.kubelet = kubeletSocket;
        this.socket = socket;
        this.resource = resource;
    }

    /** Serves a new socket first if needed: a starting kubelet deletes every socket in its directory. */
    @Override
    public CompletionStage<?> register(KubeletSocket.Present kubelet) {
        return socket.ensureServed().thenCompose(this::call);
    }

    private CompletionStage<?> call(Path served) {
        var request = RegisterRequest.newBuilder()
                .setVersion(DevicePluginServer.VERSION)
                .setEndpoint(served.getFileName().toString())
                .setResourceName(resource)
                .build();
        return calls.callStarting(kubelet, KubeletMethods.REGISTER, request, DEADLINE);
    }

    @Override
    public void socketObserved(KubeletSocket seen) {
        // A call in flight fails by itself when the kubelet restarts.
    }
}
