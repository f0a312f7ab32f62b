package io.gpufleet.nodedaemon.model.fault;

import io.gpufleet.nodedaemon.model.device.Moment;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.RecoveryAction;
import java.time.Instant;
import java.util.Set;

/**
 * A fault from its first observation until it is closed.
 *
 * @param key device and code
 * @param subject the affected part of the GPU
 * @param observations when and by which sources it was observed
 * @param recoveryAction the driver's recovery action at the last poll; unavailable until then
 * @param withdrawal whether it withdraws the device, and by which rule
 * @param state state of its cause
 */
public record OpenFault(
        FaultKey key,
        Subject subject,
        Observations observations,
        Reading<RecoveryAction> recoveryAction,
        WithdrawalDecision withdrawal,
        FaultCauseState state) {
    /**
     * The affected part of the GPU, as it was when the fault was last observed.
     *
     * @param migUuid the MIG instance where only one is concerned; else empty
     * @param model product name of the GPU; empty when unknown
     * @param energyMillijoules of the GPU since its driver was loaded: a lower value later proves a reset
     * @param subcode the part of the GPU, where the driver named one
     */
    public record Subject(String migUuid, String model, Reading<Long> energyMillijoules, XidSubcode subcode) {
        /** Makes the subject of a source that names no part of the GPU. */
        public Subject(String migUuid, String model, Reading<Long> energyMillijoules) {
            this(migUuid, model, energyMillijoules, XidSubcode.NONE);
        }

        /** Returns a newer subject, which keeps the readings that the newer one lacks. */
        Subject mergedWith(Subject newer) {
            boolean read = newer.energyMillijoules() instanceof Reading.Known<Long>;
            return new Subject(
                    newer.migUuid(),
                    newer.model(),
                    read ? newer.energyMillijoules() : energyMillijoules,
                    subcode.mergedWith(newer.subcode()));
        }

        Subject withSubcode(XidSubcode reported) {
            return new Subject(migUuid, model, energyMillijoules, reported);
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

    /** Whether it withdraws the device. */
    public boolean withdraws() {
        return withdrawal.withdraws();
    }

    /** Sources of the newest observation. */
    public Set<FaultOrigin> origins() {
        return observations.origins();
    }

    /** One line for people. */
    public String message() {
        return observations.message();
    }

    /** First observation, by the node's clock. */
    public Instant since() {
        return observations.since();
    }

    /** How often it was observed. */
    public long observationCount() {
        return observations.count();
    }

    /** Newest observation, by the monotonic clock. */
    public long lastSeenNanos() {
        return observations.newestNanos();
    }

    /** Returns the same fault in a later process: on its monotonic clock, with no monitoring source yet. */
    OpenFault afterRestart(Moment now) {
        FaultCauseState next = switch (state) {
            case FaultCauseState.Monitored there -> there.daemonRestarted();
            case FaultCauseState.Unmonitored unmonitored -> unmonitored;
            case FaultCauseState.Resolved gone -> gone.daemonRestarted(now.nanos());
        };
        return new OpenFault(
                key,
                subject,
                observations.afterRestart(now),
                new Reading.Unavailable<>("not polled yet"),
                withdrawal,
                next);
    }

    OpenFault with(FaultCauseState next) {
        return new OpenFault(key, subject, observations, recoveryAction, withdrawal, next);
    }

    OpenFault with(Observations next) {
        return new OpenFault(key, subject, next, recoveryAction, withdrawal, state);
    }

    OpenFault with(Subject next) {
        return new OpenFault(key, next, observations, recoveryAction, withdrawal, state);
    }

    /** Keeps the first reading of the energy counter after the fault when there was none at the fault. */
    OpenFault withEnergy(Reading<Long> energyMillijoules) {
        boolean known = subject.energyMillijoules() instanceof Reading.Known<Long>;
        return known
                ? this
                : with(new Subject(subject.migUuid(), subject.model(), energyMillijoules, subject.subcode()));
    }

    OpenFault with(WithdrawalDecision decided) {
        return new OpenFault(key, subject, observations, recoveryAction, decided, state);
    }

    OpenFault recoveryAction(Reading<RecoveryAction> action) {
        return new OpenFault(key, subject, observations, action, withdrawal, state);
    }

    /** Whether the GPU was reset since the fault was last observed: its energy counter fell, which only a reset does. */
    boolean wasReset(Reading<Long> energyMillijoules) {
        return subject.energyMillijoules() instanceof Reading.Known<Long>(Long then)
                && energyMillijoules instanceof Reading.Known<Long>(Long now)
                && now < then;
    }
}
