package io.gpufleet.nodedaemon.model.fault;

/**
 * State of the cause of an open fault. A transition is a method that exists only where it is legal; {@code fault-episode.md}
 * is drawn from these methods.
 */
public sealed interface FaultCauseState {
    /** The cause is present, and the source that detected it will report when it is resolved. */
    record Monitored() implements FaultCauseState {
        /** The source reported the cause resolved, or the hardware was reset since. */
        public Resolved resolved(long nanos, String proof) {
            return new Resolved(nanos, proof);
        }

        /** The process that monitored it ended. */
        public Unmonitored daemonRestarted() {
            return new Unmonitored();
        }

        /** The node rebooted. */
        public Closed nodeRebooted(String bootId) {
            return Closed.byReboot(bootId);
        }
    }

    /** The cause is present as far as is known, but no source monitors it: polls decide. */
    record Unmonitored() implements FaultCauseState {
        /** A monitoring source detected it as well. */
        public Monitored detectedByMonitor() {
            return new Monitored();
        }

        /** A poll proved the cause resolved. */
        public Resolved resolved(long nanos, String proof) {
            return new Resolved(nanos, proof);
        }

        /** The node rebooted. */
        public Closed nodeRebooted(String bootId) {
            return Closed.byReboot(bootId);
        }
    }

    /**
     * The cause is resolved; the dwell has to pass.
     *
     * @param sinceNanos by the monotonic clock
     * @param proof why the cause is known to be resolved
     */
    record Resolved(long sinceNanos, String proof) implements FaultCauseState {
        /** A monitoring source detected it again. */
        public Monitored detectedByMonitor() {
            return new Monitored();
        }

        /** It was detected again without a monitoring source: in the kernel log, or by the driver's recovery action. */
        public Unmonitored redetected() {
            return new Unmonitored();
        }

        /** The process ended during the dwell, which restarts. */
        public Resolved daemonRestarted(long nanos) {
            return new Resolved(nanos, proof);
        }

        /** The dwell passed. */
        public Closed dwellElapsed(String dwell) {
            return new Closed(proof + ", quiet for " + dwell);
        }

        /** The node rebooted. */
        public Closed nodeRebooted(String bootId) {
            return Closed.byReboot(bootId);
        }
    }

    /** The fault is closed, with the proof. No open fault has this state. */
    record Closed(String proof) {
        private static Closed byReboot(String bootId) {
            return new Closed("new boot id " + bootId);
        }
    }
}
