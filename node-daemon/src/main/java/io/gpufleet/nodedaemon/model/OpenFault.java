package io.gpufleet.nodedaemon.model;

import java.time.Instant;
import java.util.Set;

/**
 * A fault from its first sign until it is proven gone.
 *
 * @param key device and code
 * @param subject what it concerns
 * @param sightings when and where it was seen
 * @param asked what the driver asked for when last polled; unavailable until then
 * @param withdraws whether the device is withdrawn because of it
 * @param cause whether its cause is still there
 */
public record OpenFault(
        FaultKey key,
        Subject subject,
        Sightings sightings,
        Reading<RecoveryAction> asked,
        boolean withdraws,
        Cause cause) {
    /**
     * What a fault concerns, as it was when the fault was last seen.
     *
     * @param migUuid the MIG instance where only one is concerned; else empty
     * @param model product name of the GPU; empty when unknown
     * @param energyMillijoules of the GPU since its driver was loaded: a lower figure later proves that it was started anew
     * @param subcode the part of the GPU, where the driver named one
     */
    public record Subject(String migUuid, String model, Reading<Long> energyMillijoules, Subcode subcode) {
        /** Of a source that names no part of the GPU. */
        public Subject(String migUuid, String model, Reading<Long> energyMillijoules) {
            this(migUuid, model, energyMillijoules, Subcode.NONE);
        }

        /** A newer one, which may have read less. */
        Subject replacedBy(Subject newer) {
            boolean read = newer.energyMillijoules() instanceof Reading.Known<Long>;
            return new Subject(
                    newer.migUuid(),
                    newer.model(),
                    read ? newer.energyMillijoules() : energyMillijoules,
                    subcode.then(newer.subcode()));
        }

        Subject naming(Subcode told) {
            return new Subject(migUuid, model, energyMillijoules, told);
        }
    }

    /** The MIG instance where only one is concerned; else empty. */
    public String migUuid() {
        return subject.migUuid();
    }

    /** Product name of the GPU; empty when unknown. */
    public String model() {
        return subject.model();
    }

    /** Where the newest observation was seen. */
    public Set<FaultOrigin> origins() {
        return sightings.origins();
    }

    /** One line for people. */
    public String message() {
        return sightings.message();
    }

    /** First observation, by the node's clock. */
    public Instant since() {
        return sightings.since();
    }

    /** How often it was observed. */
    public long observations() {
        return sightings.count();
    }

    /** Newest observation, by the monotonic clock. */
    public long lastSeenNanos() {
        return sightings.newestNanos();
    }

    /** The same fault as a later process finds it: its monotonic clock is another, and nobody watches as yet. */
    OpenFault inherited(Moment now) {
        Cause next = switch (cause) {
            case Cause.There there -> there.outlive();
            case Cause.Unwatched unwatched -> unwatched;
            case Cause.Gone gone -> gone.outlive(now.nanos());
        };
        return new OpenFault(
                key, subject, sightings.inherited(now), new Reading.Unavailable<>("not polled since"), withdraws, next);
    }

    OpenFault with(Cause next) {
        return new OpenFault(key, subject, sightings, asked, withdraws, next);
    }

    OpenFault with(Sightings next) {
        return new OpenFault(key, subject, next, asked, withdraws, cause);
    }

    OpenFault with(Subject next) {
        return new OpenFault(key, next, sightings, asked, withdraws, cause);
    }

    /** Where the energy counter was not read when the fault was seen, its first reading afterwards serves. */
    OpenFault measured(Reading<Long> energyMillijoules) {
        boolean known = subject.energyMillijoules() instanceof Reading.Known<Long>;
        return known
                ? this
                : with(new Subject(subject.migUuid(), subject.model(), energyMillijoules, subject.subcode()));
    }

    OpenFault judged(boolean withdrawing) {
        return new OpenFault(key, subject, sightings, asked, withdrawing, cause);
    }

    OpenFault asked(Reading<RecoveryAction> action) {
        return new OpenFault(key, subject, sightings, action, withdraws, cause);
    }

    /** Whether the GPU was started anew since the fault was last seen: a counter that only a start sets back fell. */
    boolean startedAnew(Reading<Long> energyMillijoules) {
        return subject.energyMillijoules() instanceof Reading.Known<Long>(Long then)
                && energyMillijoules instanceof Reading.Known<Long>(Long now)
                && now < then;
    }
}
