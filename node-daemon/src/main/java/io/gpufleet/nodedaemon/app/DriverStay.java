package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.Look;
import io.gpufleet.nodedaemon.model.Moment;
import java.util.OptionalLong;

/** Notices from looks that the kernel driver went and came back, or that another took its place. */
final class DriverStay {
    private String version = "";
    private long lastSeenNanos;
    private OptionalLong wentNanos = OptionalLong.empty();

    /** For a look that finds a driver which was loaded anew: when the one before was last seen; else empty. */
    OptionalLong wentBefore(Look look, Moment now) {
        return switch (look) {
            case Look.Blind(Look.DriverTrouble trouble, String _) -> {
                if (trouble == Look.DriverTrouble.NOT_LOADED && wentNanos.isEmpty()) {
                    wentNanos = OptionalLong.of(now.nanos());
                }
                yield OptionalLong.empty();
            }
            case Look.Seen seen -> {
                boolean another = !version.isEmpty() && !version.equals(seen.driverVersion());
                OptionalLong went = wentNanos.isEmpty() && another ? OptionalLong.of(lastSeenNanos) : wentNanos;
                version = seen.driverVersion();
                lastSeenNanos = now.nanos();
                wentNanos = OptionalLong.empty();
                yield went;
            }
        };
    }
}
