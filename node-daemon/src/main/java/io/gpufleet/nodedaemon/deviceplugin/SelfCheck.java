package io.gpufleet.nodedaemon.deviceplugin;

import io.gpufleet.proto.kubelet.deviceplugin.DevicePluginGrpcClient;
import io.gpufleet.proto.kubelet.deviceplugin.Empty;
import io.vertx.core.net.SocketAddress;
import io.vertx.grpc.client.GrpcClient;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** Calls our own server as a kubelet would, from time to time; all calls on one context. */
final class SelfCheck {
    private static final int STUCK_AFTER = 3;
    private static final long DEADLINE_SECONDS = 5;

    private final GrpcClient client;
    private volatile int failures;
    private boolean underWay;

    SelfCheck(GrpcClient client) {
        this.client = client;
    }

    /** Calls once; a call before that has not even come back by now has failed. */
    void check(Path socket) {
        if (underWay) {
            failures++;
            return;
        }
        underWay = true;
        client.request(
                        SocketAddress.domainSocketAddress(socket.toString()),
                        DevicePluginGrpcClient.GetDevicePluginOptions)
                .compose(call -> {
                    call.timeout(DEADLINE_SECONDS, TimeUnit.SECONDS);
                    return call.send(Empty.getDefaultInstance());
                })
                .compose(response -> response.last())
                .onComplete(answer -> {
                    underWay = false;
                    failures = answer.succeeded() ? 0 : failures + 1;
                });
    }

    /** Nobody is served at the moment, so nothing can be stuck. */
    void rest() {
        failures = 0;
    }

    /** Whether several calls in a row failed. */
    boolean stuck() {
        return failures >= STUCK_AFTER;
    }
}
