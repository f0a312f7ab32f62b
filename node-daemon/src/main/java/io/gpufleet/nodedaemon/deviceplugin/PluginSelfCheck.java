package io.gpufleet.nodedaemon.deviceplugin;

import io.gpufleet.proto.kubelet.deviceplugin.DevicePluginGrpcClient;
import io.gpufleet.proto.kubelet.deviceplugin.Empty;
import io.vertx.core.net.SocketAddress;
import io.vertx.grpc.client.GrpcClient;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** Calls our own server periodically like a kubelet. All calls on one context, except {@link #stuck}. */
final class PluginSelfCheck {
    private static final int STUCK_AFTER = 3;
    private static final long DEADLINE_SECONDS = 5;

    private final GrpcClient client;
    private volatile int failures;
    private boolean inFlight;

    PluginSelfCheck(GrpcClient client) {
        this.client = client;
    }

    /** Calls once; counts a failure if the previous call is still in flight. */
    void check(Path socket) {
        if (inFlight) {
            failures++;
            return;
        }
        inFlight = true;
        client.request(
                        SocketAddress.domainSocketAddress(socket.toString()),
                        DevicePluginGrpcClient.GetDevicePluginOptions)
                .compose(call -> {
                    call.timeout(DEADLINE_SECONDS, TimeUnit.SECONDS);
                    return call.send(Empty.getDefaultInstance());
                })
                .compose(response -> response.last())
                .onComplete(result -> {
                    inFlight = false;
                    failures = result.succeeded() ? 0 : failures + 1;
                });
    }

    /** Resets the failures, while the resource is not served. */
    void reset() {
        failures = 0;
    }

    /** Whether several consecutive calls failed. */
    boolean stuck() {
        return failures >= STUCK_AFTER;
    }
}
