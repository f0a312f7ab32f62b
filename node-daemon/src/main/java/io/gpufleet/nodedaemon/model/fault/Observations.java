package io.gpufleet.nodedaemon.model.fault;

import io.gpufleet.nodedaemon.model.device.Moment;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.Set;

/**
 * When and by which sources a fault was observed. Two sources may report the same occurrence; the pair counts once.
 *
 * @param since first observation, by the node's clock
 * @param count how often it was observed
 * @param message of the newest observation, one line for people
 * @param origins the sources of the newest observation
 * @param newestNanos newest observation, by the monotonic clock
 * @param firstOrigin the source that reported it first
 * @param unpaired how many observations of that source no other source has reported yet
 */
public record Observations(
        Instant since,
        long count,
        String message,
        Set<FaultOrigin> origins,
        long newestNanos,
        FaultOrigin firstOrigin,
        int unpaired) {
    /** Reports of one fault of one GPU by two sources within this time are one occurrence. */
    public static final Duration DUPLICATE_WINDOW = Duration.ofSeconds(5);

    /** Copies the set. */
    public Observations {
        origins = Set.copyOf(origins);
    }

    /** Restores observations of an earlier process, without the pairing of sources. */
    public static Observations restored(Instant since, long count, String message, Set<FaultOrigin> origins) {
        return new Observations(since, count, message, origins, 0, FaultOrigin.POLL, 0);
    }

    static Observations first(DeviceEvent.FaultDetected event, Moment now) {
        return new Observations(now.wall(), 1, event.message(), Set.of(event.origin()), now.nanos(), event.origin(), 1);
    }

    /** Whether another source has already reported this occurrence. */
    boolean isDuplicate(DeviceEvent.FaultDetected event, Moment now) {
        return isWithinWindow(now) && unpaired > 0 && event.origin() != firstOrigin;
    }

    Observations withDuplicate(FaultOrigin origin) {
        var both = EnumSet.of(origin);
        both.addAll(origins);
        return new Observations(since, count, message, both, newestNanos, firstOrigin, unpaired - 1);
    }

    Observations withMessage(String better) {
        return new Observations(since, count, better, origins, newestNanos, firstOrigin, unpaired);
    }

    Observations repeated(DeviceEvent.FaultDetected event, Moment now) {
        int ahead = isWithinWindow(now) && event.origin() == firstOrigin ? unpaired + 1 : 1;
        return new Observations(
                since, count + 1, event.message(), Set.of(event.origin()), now.nanos(), event.origin(), ahead);
    }

    Observations afterRestart(Moment now) {
        return new Observations(since, count, message, origins, now.nanos(), firstOrigin, 0);
    }

    private boolean isWithinWindow(Moment now) {
        return now.since(newestNanos).compareTo(DUPLICATE_WINDOW) <= 0;
    }
}
