package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.Moment;
import java.util.OptionalLong;

/** Detects from scans that the kernel driver was unloaded and loaded again, or replaced by another version. */
final class DriverReloadDetector {
    private String version = "";
    private long lastSeenNanos;
    private OptionalLong unloadedNanos = OptionalLong.empty();

    /** Returns when the previous driver was last seen, for a scan that finds a reloaded one; else empty. */
    OptionalLong previousDriverLastSeen(DeviceScan scan, Moment now) {
        return switch (scan) {
            case DeviceScan.ScanFailed(DeviceScan.DriverProblem problem, String _) -> {
                if (problem == DeviceScan.DriverProblem.NOT_LOADED && unloadedNanos.isEmpty()) {
                    unloadedNanos = OptionalLong.of(now.nanos());
                }
                yield OptionalLong.empty();
            }
            case DeviceScan.ScanSucceeded seen -> {
                boolean another = !version.isEmpty() && !version.equals(seen.driverVersion());
                OptionalLong went = unloadedNanos.isEmpty() && another ? OptionalLong.of(lastSeenNanos) : unloadedNanos;
                version = seen.driverVersion();
                lastSeenNanos = now.nanos();
                unloadedNanos = OptionalLong.empty();
                yield went;
            }
        };
    }
}
