package io.gpufleet.inventory.model;

import java.time.Instant;

/**
 * Whether a node's daemon is heard. A transition is a method of the state that it may leave:
 *
 * <pre>
 *            announced                departs
 *   (new) ───────────► Present ─────────────────► Departed
 *                      │  ▲  ▲                     ▲    │
 *       fallsSilent ▼  │  └──┼─────announced───────┼────┘
 *                    Lost ───┘ heard, announced    │
 *                      └──────────departs──────────┘
 * </pre>
 *
 * A departed node comes back by an announcement only: a heartbeat of before its end may be read after it, since there
 * is no order between topics, and a daemon that starts always announces.
 */
public sealed interface Presence {
    /** Since when, by the log's append time; for a loss by the clock of the replica that noticed it. */
    Instant since();

    /** The daemon started or told what it has. */
    Presence announced(Instant at);

    /** Any other sign of life. */
    Presence heard(Instant at);

    /** The daemon stopped in good order. */
    Presence departs(Instant at);

    /** The word for people and queries. */
    String word();

    /** Heard. */
    record Present(Instant since) implements Presence {
        @Override
        public Presence announced(Instant at) {
            return this;
        }

        @Override
        public Presence heard(Instant at) {
            return this;
        }

        @Override
        public Presence departs(Instant at) {
            return new Departed(at);
        }

        /** Silent for longer than allowed, while others were heard. */
        public Lost fallsSilent(Instant at) {
            return new Lost(at);
        }

        @Override
        public String word() {
            return "present";
        }
    }

    /** Stopped in good order. */
    record Departed(Instant since) implements Presence {
        @Override
        public Presence announced(Instant at) {
            return new Present(at);
        }

        @Override
        public Presence heard(Instant at) {
            return this;
        }

        @Override
        public Presence departs(Instant at) {
            return this;
        }

        @Override
        public String word() {
            return "departed";
        }
    }

    /** Silent for longer than allowed, while others were heard. */
    record Lost(Instant since) implements Presence {
        @Override
        public Presence announced(Instant at) {
            return new Present(at);
        }

        @Override
        public Presence heard(Instant at) {
            return new Present(at);
        }

        @Override
        public Presence departs(Instant at) {
            return new Departed(at);
        }

        @Override
        public String word() {
            return "lost";
        }
    }
}
