package io.gpufleet.nodedaemon.deviceplugin;

import io.gpufleet.proto.kubelet.UnaryCalls;
import io.gpufleet.proto.kubelet.deviceplugin.DevicePluginGrpcClient;
import io.gpufleet.proto.kubelet.deviceplugin.Empty;
import java.nio.file.Path;
import java.time.Duration;

/** Calls our own server periodically like a kubelet. All calls on one context, except {@link #stuck}. */
final class PluginSelfCheck {
    private static final int STUCK_AFTER = 3;
    private static final Duration DEADLINE = Duration.ofSeconds(5);

    private final UnaryCalls calls;
    private volatile int failures;
    private boolean inFlight;

    PluginSelfCheck(UnaryCalls calls) {
        this.calls = calls;
    }

    /** Calls once; counts a failure if the previous call is still in flight. */
    void check(Path socket) {
        if (inFlight) {
            failures++;
            return;
        }
        inFlight = true;
        calls.call(socket, DevicePluginGrpcClient.GetDevicePluginOptions, Empty.getDefaultInstance(), DEADLINE)
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
