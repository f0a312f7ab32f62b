package io.gpufleet.inventory.model;

import java.time.Instant;

/**
 * Liveness of the daemon of a node. A transition is a method of the state that it leaves:
 *
 * <pre>
 *       onAnnouncement             onDeparture
 *   (new) ───────────► Present ─────────────────► Departed
 *                      │  ▲  ▲                     ▲    │
 *            toLost ▼  │  └──┼──onAnnouncement─────┼────┘
 *                    Lost ───┘ onHeartbeat, onAnnouncement
 *                      └─────────onDeparture───────┘
 * </pre>
 *
 * A departed node becomes present only by an announcement. Topics have no common order, so a heartbeat sent before the
 * departure may be read after it, and a daemon announces at every start.
 */
public sealed interface Presence {
    /** Start of the state, by append time of the log; for a loss, by the clock of the replica that detected it. */
    Instant since();

    /** State after an announcement. */
    Presence onAnnouncement(Instant at);

    /** State after any other event of the daemon. */
    Presence onHeartbeat(Instant at);

    /** State after a graceful stop of the daemon. */
    Presence onDeparture(Instant at);

    /** Name of the state in answers and queries. */
    String stateName();

    /** The daemon sends events. */
    record Present(Instant since) implements Presence {
        @Override
        public Presence onAnnouncement(Instant at) {
            return this;
        }

        @Override
        public Presence onHeartbeat(Instant at) {
            return this;
        }

        @Override
        public Presence onDeparture(Instant at) {
            return new Departed(at);
        }

        /** State after the silence timeout. */
        public Lost toLost(Instant at) {
            return new Lost(at);
        }

        @Override
        public String stateName() {
            return "present";
        }
    }

    /** The daemon stopped gracefully. */
    record Departed(Instant since) implements Presence {
        @Override
        public Presence onAnnouncement(Instant at) {
            return new Present(at);
        }

        @Override
        public Presence onHeartbeat(Instant at) {
            return this;
        }

        @Override
        public Presence onDeparture(Instant at) {
            return this;
        }

        @Override
        public String stateName() {
            return "departed";
        }
    }

    /** The daemon was silent for longer than the timeout while other nodes were not. */
    record Lost(Instant since) implements Presence {
        @Override
        public Presence onAnnouncement(Instant at) {
            return new Present(at);
        }

        @Override
        public Presence onHeartbeat(Instant at) {
            return new Present(at);
        }

        @Override
        public Presence onDeparture(Instant at) {
            return new Departed(at);
        }

        @Override
        public String stateName() {
            return "lost";
        }
    }
}
