package io.gpufleet.nodedaemon.model.hold;

import io.gpufleet.nodedaemon.model.device.Moment;
import java.time.Duration;
import java.util.OptionalLong;

/**
 * Whether the GPUs are released. The remaining time is counted by the monotonic clock from the first observation of a request:
 * a change of the wall clock neither ends a driver upgrade half way nor holds a node for ever.
 */
public sealed interface DeviceRelease {
    /** A deadline further away than this counts as none. */
    Duration MAX_DURATION = Duration.ofDays(365);

    /** No request: the GPUs are in use. */
    record NotRequested() implements DeviceRelease {}

    /** The GPUs are released until the deadline. */
    record Released(GpuReleaseRequest request, long untilNanos) implements DeviceRelease {}

    /** The request still exists, but its deadline has passed. */
    record Expired(GpuReleaseRequest request) implements DeviceRelease {}

    /** Applies an observed request. */
    default DeviceRelease requested(GpuReleaseRequest request, Moment now) {
        return switch (this) {
            case Released held
            when held.request().equals(request) -> held.untilNanos() - now.nanos() > 0 ? held : new Expired(request);
            case Expired overdue when overdue.request().equals(request) -> overdue;
            case NotRequested _, Released _, Expired _ -> start(request, now);
        };
    }

    private static DeviceRelease start(GpuReleaseRequest request, Moment now) {
        Duration left = Duration.between(now.wall(), request.deadline());
        if (!left.isPositive()) {
            return new Expired(request);
        }
        Duration counted = left.compareTo(MAX_DURATION) < 0 ? left : MAX_DURATION;
        return new Released(request, now.nanos() + counted.toNanos());
    }

    /** Applies the absence of a request. */
    default DeviceRelease requestRemoved() {
        return new NotRequested();
    }

    /** Returns when the deadline passes, by the monotonic clock. */
    default OptionalLong endNanos() {
        return switch (this) {
            case Released held -> OptionalLong.of(held.untilNanos());
            case NotRequested _, Expired _ -> OptionalLong.empty();
        };
    }
}
