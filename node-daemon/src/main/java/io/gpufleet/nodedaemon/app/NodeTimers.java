package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.HealthBook;
import java.time.Duration;

/** What is due when, by the monotonic clock. */
final class NodeTimers {
    /** How often open faults are repeated. */
    static final Duration FAULTS_OPEN = Duration.ofSeconds(60);

    /** How often an unchanged snapshot is sent. */
    static final Duration SNAPSHOT = Duration.ofHours(6);

    /** The loop turns at least so often; a watchdog looks at it. */
    static final Duration LONGEST_WAIT = Duration.ofSeconds(1);

    private final HolderSchedule holders;
    private long faultsOpenNanos;
    private long announceNanos;
    private long heldNanos;

    /** Snapshots of different nodes are spread over the first period by the boot id. */
    NodeTimers(long nanos, String bootId) {
        this.holders = new HolderSchedule(nanos);
        long spread = Math.floorMod(bootId.hashCode() * 1_000_000_007L, SNAPSHOT.toNanos());
        this.faultsOpenNanos = nanos + FAULTS_OPEN.toNanos();
        this.announceNanos = nanos + spread;
        this.heldNanos = nanos + spread;
    }

    HolderSchedule holders() {
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

    /** A change does not move the period, or a restless node would never repeat itself at its own time. */
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

    /** How long the loop may wait for the next input. */
    long waitNanos(HealthBook health, long nanos) {
        long horizon = nanos + LONGEST_WAIT.toNanos();
        long next = Math.min(horizon, health.nextDueNanos().orElse(horizon));
        return Math.max(0, next - nanos);
    }
}
