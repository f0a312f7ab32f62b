package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.fault.OpenFaults;
import java.time.Duration;

/** Timers of the node loop, by the monotonic clock. */
final class NodeTimers {
    /** Period in which open faults are repeated. */
    static final Duration FAULTS_OPEN = Duration.ofSeconds(60);

    /** Period in which an unchanged snapshot is repeated. */
    static final Duration SNAPSHOT = Duration.ofHours(6);

    /** Maximum time between iterations of the loop, which the liveness probe checks; what is due has its own time. */
    static final Duration MAX_WAIT = Duration.ofSeconds(5);

    private final HolderPollSchedule holders;
    private long faultsOpenNanos;
    private long announceNanos;
    private long heldNanos;

    /** Starts the timers; the first periodic snapshots of different nodes are spread by the boot id. */
    NodeTimers(long nanos, String bootId) {
        this.holders = new HolderPollSchedule(nanos);
        long spread = Math.floorMod(bootId.hashCode() * 1_000_000_007L, SNAPSHOT.toNanos());
        this.faultsOpenNanos = nanos + FAULTS_OPEN.toNanos();
        this.announceNanos = nanos + spread;
        this.heldNanos = nanos + spread;
    }

    HolderPollSchedule holders() {
        return holders;
    }

    boolean faultsOpenDue(long nanos) {
        return faultsOpenNanos - nanos <= 0;
    }

    void faultsOpenSent(long nanos) {
        faultsOpenNanos = nanos + FAULTS_OPEN.toNanos();
    }

    boolean announceDue(long nanos) {
        return announceNanos - nanos <= 0;
    }

    /** Records a snapshot; a change does not move the period, or a node with frequent changes would never repeat it. */
    void announced(long nanos) {
        if (announceDue(nanos)) {
            announceNanos = nanos + SNAPSHOT.toNanos();
        }
    }

    boolean heldDue(long nanos) {
        return heldNanos - nanos <= 0;
    }

    void heldSent(long nanos) {
        if (heldDue(nanos)) {
            heldNanos = nanos + SNAPSHOT.toNanos();
        }
    }

    /** Returns how long the loop may wait for the next input. */
    long waitNanos(OpenFaults health, long nanos) {
        long horizon = nanos + MAX_WAIT.toNanos();
        long next = Math.min(horizon, health.nextDueNanos().orElse(horizon));
        return Math.max(0, next - nanos);
    }
}
