package io.gpufleet.health.model.fault;

import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;

/**
 * Repair attempts on a device, over boots and moves to other nodes.
 *
 * @param attempts by what was recommended when its effect was seen
 * @param recovered append time at which it was trusted again last; the epoch when never
 */
public record RepairHistory(Map<RecommendedAction, Attempts> attempts, Instant recovered) {
    /** Nothing was tried. */
    public static final RepairHistory NONE = new RepairHistory(Map.of(), Instant.EPOCH);

    /** Copies the map. */
    public RepairHistory {
        attempts = Map.copyOf(attempts);
    }

    /**
     * Attempts of one kind.
     *
     * @param count since the last time without one for longer than the window
     * @param last append time of the effect of the newest
     */
    public record Attempts(int count, Instant last) {}

    /** With one more attempt, of which the effect was seen now. */
    public RepairHistory attempted(RecommendedAction action, Duration within, Instant at) {
        var more = new EnumMap<RecommendedAction, Attempts>(RecommendedAction.class);
        more.putAll(attempts);
        more.put(action, new Attempts(made(action, within, at) + 1, at));
        return new RepairHistory(more, recovered);
    }

    /** With what another node knows of the same device: of each kind the more, and the newest. */
    public RepairHistory with(RepairHistory other) {
        var all = new EnumMap<RecommendedAction, Attempts>(RecommendedAction.class);
        all.putAll(attempts);
        other.attempts.forEach((action, made) -> all.merge(
                action,
                made,
                (one, two) -> new Attempts(
                        Math.max(one.count(), two.count()), one.last().isAfter(two.last()) ? one.last() : two.last())));
        return new RepairHistory(all, recovered.isAfter(other.recovered) ? recovered : other.recovered);
    }

    /** True when such an attempt was counted at that time or later. */
    private boolean attemptedSince(RecommendedAction action, Instant since) {
        return Optional.ofNullable(attempts.get(action))
                .filter(made -> !made.last().isBefore(since))
                .isPresent();
    }

    /** True when an attempt by a boot was counted at that time or later. */
    public boolean bootedSince(Instant since) {
        return attemptedSince(RecommendedAction.REBOOT, since) || attemptedSince(RecommendedAction.POWER_CYCLE, since);
    }

    /** How often it was tried before a fault that began then. */
    public int made(RecommendedAction action, Duration within, Instant since) {
        return Optional.ofNullable(attempts.get(action))
                .filter(made -> since.isBefore(made.last().plus(within)))
                .map(Attempts::count)
                .orElse(0);
    }

    /** Without the attempts of one kind. */
    public RepairHistory without(RecommendedAction action) {
        var fewer = new EnumMap<RecommendedAction, Attempts>(RecommendedAction.class);
        fewer.putAll(attempts);
        fewer.remove(action);
        return new RepairHistory(fewer, recovered);
    }

    /** Without any attempt. */
    public RepairHistory withoutAttempts() {
        return new RepairHistory(Map.of(), recovered);
    }

    /** True when nothing in it counts any more. */
    public boolean expired(Duration within, Instant at) {
        return attempts.values().stream()
                .allMatch(made -> !at.isBefore(made.last().plus(within)));
    }

    /** The device is trusted again. */
    public RepairHistory trustedAgain(Instant at) {
        return new RepairHistory(attempts, at);
    }
}
