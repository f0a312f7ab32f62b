package io.gpufleet.health.model.presence;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;

/**
 * Whether the health of a node is known at all. A departed daemon is heard again only when it announces: topics have no
 * common order, so that an event sent before the departure may be read after it.
 *
 * @param daemon whether its daemon is heard
 * @param since start of that; the epoch before the first loss
 * @param losses newest times at which the daemon or the kubelet was lost, at most {@value #FLAPPING_LOSSES}, oldest first
 * @param reason why the health is unknown, reason of the condition; empty while it is known
 */
public record Presence(Daemon daemon, Instant since, List<Instant> losses, String reason) {
    /** So many losses within {@link #FLAPPING_WITHIN} are flapping. */
    public static final int FLAPPING_LOSSES = 3;

    /** See {@link #FLAPPING_LOSSES}. */
    public static final Duration FLAPPING_WITHIN = Duration.ofHours(1);

    /** A daemon that is replaced by a newer one is away for less. */
    public static final Duration DEPARTURE_GRACE = Duration.ofMinutes(2);

    /** Reason while the Node is not ready. */
    public static final String NODE_NOT_READY = "NodeNotReady";

    /** Reason while the daemon is silent. */
    public static final String DAEMON_SILENT = "DaemonSilent";

    /** Reason while no daemon runs after one stopped in order. */
    public static final String DAEMON_DEPARTED = "DaemonDeparted";

    /** Reason while the node comes and goes. */
    public static final String FLAPPING = "Flapping";

    /** Heard, and never lost. */
    public static final Presence HEARD = new Presence(Daemon.HEARD, Instant.EPOCH, List.of(), "");

    /** States of a daemon. */
    public enum Daemon {
        /** Its events arrive. */
        HEARD,
        /** Nothing arrives while others are heard. */
        SILENT,
        /** It stopped in order. */
        DEPARTED
    }

    /** Keeps the newest losses. */
    public Presence {
        losses = List.copyOf(losses.subList(Math.max(0, losses.size() - FLAPPING_LOSSES), losses.size()));
    }

    /** An announcement arrived. */
    public Presence announced(Instant at) {
        return daemon == Daemon.HEARD ? this : new Presence(Daemon.HEARD, at, losses, reason);
    }

    /** Another event of the daemon arrived. */
    public Presence heard(Instant at) {
        return daemon == Daemon.SILENT ? announced(at) : this;
    }

    /** The daemon is silent while others are heard. */
    public Presence silent(Instant at) {
        return daemon == Daemon.HEARD ? lost(at).with(Daemon.SILENT, at) : this;
    }

    /** The daemon stopped in order. */
    public Presence departed(Instant at) {
        return daemon == Daemon.DEPARTED ? this : with(Daemon.DEPARTED, at);
    }

    /** The Node became not ready. */
    public Presence lost(Instant at) {
        return new Presence(
                daemon, since, Stream.concat(losses.stream(), Stream.of(at)).toList(), reason);
    }

    private Presence with(Daemon next, Instant at) {
        return new Presence(next, at, losses, reason);
    }

    /** With the reason that holds now. */
    public Presence settled(boolean nodeReady, Instant now) {
        String next = reasonAt(nodeReady, now);
        return next.equals(reason) ? this : new Presence(daemon, since, losses, next);
    }

    private String reasonAt(boolean nodeReady, Instant now) {
        if (!nodeReady) {
            return NODE_NOT_READY;
        }
        if (daemon == Daemon.SILENT) {
            return DAEMON_SILENT;
        }
        if (daemon == Daemon.DEPARTED && !now.isBefore(since.plus(DEPARTURE_GRACE))) {
            return DAEMON_DEPARTED;
        }
        return losses.size() == FLAPPING_LOSSES && now.isBefore(calmAt()) ? FLAPPING : "";
    }

    /** True while nothing is heard of the daemon, beyond the time in which a newer one replaces it. */
    public boolean unheard() {
        return reason.equals(DAEMON_SILENT) || reason.equals(DAEMON_DEPARTED);
    }

    private Instant calmAt() {
        return losses.getFirst().plus(FLAPPING_WITHIN);
    }

    /** When time alone changes the reason next; {@link Instant#MAX} for never. */
    public Instant changesAt() {
        Instant graceEnd =
                daemon == Daemon.DEPARTED && !reason.equals(DAEMON_DEPARTED) && !reason.equals(NODE_NOT_READY)
                        ? since.plus(DEPARTURE_GRACE)
                        : Instant.MAX;
        Instant calm = reason.equals(FLAPPING) ? calmAt() : Instant.MAX;
        return graceEnd.isBefore(calm) ? graceEnd : calm;
    }

    /** The reason as one line for people; empty while the health is known. */
    public String message() {
        return switch (reason) {
            case NODE_NOT_READY -> "the Node is not ready: the health of its GPUs is not known";
            case DAEMON_SILENT -> "the node-daemon is silent since " + since + ": the health of the GPUs is not known";
            case DAEMON_DEPARTED -> "the node-daemon stopped at " + since + ": the health of the GPUs is not known";
            case FLAPPING ->
                "the node was lost " + FLAPPING_LOSSES + " times within an hour: its health is not reliable";
            default -> "";
        };
    }
}
