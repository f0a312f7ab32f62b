package io.gpufleet.nodedaemon.model;

import java.time.Instant;
import java.util.EnumSet;
import java.util.Set;

/**
 * A fault from its first sign until it is proven gone.
 *
 * @param key device and code
 * @param migUuid the MIG instance where only one is concerned; else empty
 * @param model product name of the GPU; empty when unknown
 * @param origins where the newest observation was seen
 * @param asked what the driver asked for when last polled; UNKNOWN until then
 * @param message one line for people
 * @param withdraws whether the device is withdrawn because of it
 * @param since first observation, by the node's clock
 * @param observations how often it was observed
 * @param lastSeenNanos newest observation, by the monotonic clock
 * @param cause whether its cause is still there
 */
public record OpenFault(
        FaultKey key,
        String migUuid,
        String model,
        Set<FaultOrigin> origins,
        Reading<RecoveryAction> asked,
        String message,
        boolean withdraws,
        Instant since,
        long observations,
        long lastSeenNanos,
        Cause cause) {
    /** Copies the set. */
    public OpenFault {
        origins = Set.copyOf(origins);
    }

    /** Whether what caused a fault is still there. */
    public sealed interface Cause {
        /** It is; the source that saw it will say when it is gone. */
        record There() implements Cause {}

        /** The fault was open before this process began, so no source will say when it is gone: polls decide. */
        record Inherited() implements Cause {}

        /** It is gone since then, by the monotonic clock; the dwell has to pass. */
        record Gone(long sinceNanos, String proof) implements Cause {}
    }

    OpenFault seenAgain(Sign.FaultSeen sign, Moment now) {
        return new OpenFault(
                key,
                sign.migUuid(),
                model,
                Set.of(sign.source()),
                asked,
                sign.message(),
                withdraws,
                since,
                observations + 1,
                now.nanos(),
                new Cause.There());
    }

    OpenFault alsoSeenBy(FaultOrigin origin) {
        var both = EnumSet.of(origin);
        both.addAll(origins);
        return new OpenFault(
                key,
                migUuid,
                model,
                both,
                asked,
                message,
                withdraws,
                since,
                observations,
                lastSeenNanos,
                new Cause.There());
    }

    /** The same fault as a later process finds it: its monotonic clock is another. */
    OpenFault inherited(Moment now) {
        return new OpenFault(
                key,
                migUuid,
                model,
                origins,
                new Reading.Unavailable<>("not polled since"),
                message,
                withdraws,
                since,
                observations,
                now.nanos(),
                new Cause.Inherited());
    }

    OpenFault with(Cause next) {
        return new OpenFault(
                key, migUuid, model, origins, asked, message, withdraws, since, observations, lastSeenNanos, next);
    }

    OpenFault judged(boolean withdrawing) {
        return new OpenFault(
                key, migUuid, model, origins, asked, message, withdrawing, since, observations, lastSeenNanos, cause);
    }

    OpenFault asked(Reading<RecoveryAction> action) {
        return new OpenFault(
                key, migUuid, model, origins, action, message, withdraws, since, observations, lastSeenNanos, cause);
    }
}
