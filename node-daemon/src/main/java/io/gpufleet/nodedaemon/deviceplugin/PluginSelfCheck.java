package io.gpufleet.nodedaemon.deviceplugin;

import io.gpufleet.proto.kubelet.KubeletMethods;
import io.gpufleet.proto.kubelet.UnixGrpcClient;
import io.gpufleet.proto.kubelet.deviceplugin.Empty;
import java.nio.file.Path;
import java.time.Duration;

/** Calls our own server periodically like a kubelet. All calls on one event loop, except {@link #stuck}. */
final class PluginSelfCheck {
    private static final int STUCK_AFTER = 3;
    private static final Duration DEADLINE = Duration.ofSeconds(5);

    private final UnixGrpcClient calls;
    private volatile int failures;
    private boolean inFlight;

    PluginSelfCheck(UnixGrpcClient calls) {
        this.calls = calls;
    }

    /** Calls once; counts a failure if the previous call is still in flight. */
    void check(Path socket) {
        if (inFlight) {
            failures++;
            return;
        }
        inFlight = true;
        calls.call(socket, KubeletMethods.GET_DEVICE_PLUGIN_OPTIONS, Empty.getDefaultInstance(), DEADLINE)
                .whenComplete((_, failed) -> {
                    inFlight = false;
                    failures = failed == null ? 0 : failures + 1;
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
