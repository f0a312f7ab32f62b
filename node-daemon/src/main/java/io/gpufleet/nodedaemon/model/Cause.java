package io.gpufleet.nodedaemon.model;

/**
 * Whether what caused an open fault is still there. A transition is a method that exists only where it is legal;
 * {@code fault-episode.md} is drawn from them.
 */
public sealed interface Cause {
    /** It is, and the source that saw it watches it: that source will say when it is gone. */
    record There() implements Cause {
        /** The source says that it is gone, or the hardware was started anew since. */
        public Gone end(long nanos, String proof) {
            return new Gone(nanos, proof);
        }

        /** The process that watched it ended. */
        public Unwatched outlive() {
            return new Unwatched();
        }

        /** The machine booted anew. */
        public Closed boot(String bootId) {
            return Closed.byBoot(bootId);
        }
    }

    /** As far as is known it is, but no source watches it: polls decide. */
    record Unwatched() implements Cause {
        /** A source that watches saw it as well. */
        public There watch() {
            return new There();
        }

        /** Polls prove it gone. */
        public Gone end(long nanos, String proof) {
            return new Gone(nanos, proof);
        }

        /** The machine booted anew. */
        public Closed boot(String bootId) {
            return Closed.byBoot(bootId);
        }
    }

    /**
     * It is gone; the dwell has to pass.
     *
     * @param sinceNanos by the monotonic clock
     * @param proof how that is known
     */
    record Gone(long sinceNanos, String proof) implements Cause {
        /** A source that watches saw it again. */
        public There watch() {
            return new There();
        }

        /** It is seen again where nobody watches: in the kernel log, or in what the driver asks for. */
        public Unwatched reopen() {
            return new Unwatched();
        }

        /** The process ended during the dwell, which starts over. */
        public Gone outlive(long nanos) {
            return new Gone(nanos, proof);
        }

        /** The dwell passed. */
        public Closed settle(String dwell) {
            return new Closed(proof + ", quiet for " + dwell);
        }

        /** The machine booted anew. */
        public Closed boot(String bootId) {
            return Closed.byBoot(bootId);
        }
    }

    /** The end of the fault, and how it was proven. No open fault has it. */
    record Closed(String proof) {
        private static Closed byBoot(String bootId) {
            return new Closed("new boot id " + bootId);
        }
    }
}
