package io.gpufleet.runtime.engine;

import java.util.List;
import java.util.function.ToLongFunction;

/**
 * Counters of an engine since the process started, by the name under which each service shows them.
 *
 * @param values one for each of {@link #METERS}, in their order
 */
public record ProjectionCounters(List<Long> values) {
    /**
     * One figure.
     *
     * @param name Prometheus name without the suffix that its kind asks for
     * @param description one line for people
     * @param monotonic whether it only rises until the process ends, so that it is a counter and no gauge
     */
    public record Meter(String name, String description, boolean monotonic, Reading reading) {
        /** Takes the figure from an engine, at any time, on any thread; NaN while it is not known. */
        public double read(ProjectionEngine<?> engine) {
            long value = engine.counters().values().get(METERS.indexOf(this));
            return value == UNKNOWN ? Double.NaN : value;
        }
    }

    /** How a figure is taken. */
    interface Reading extends ToLongFunction<EngineContext> {}

    /** Value of a gauge that was not measured yet. */
    public static final long UNKNOWN = Long.MIN_VALUE;

    /** Every figure of an engine; {@code gpufleet_active} comes first. */
    public static final List<Meter> METERS = List.of(
            new Meter("gpufleet_active", "1 on the replica that acts and holds its lease", false, _ -> 0),
            counter(
                    "events",
                    "events applied",
                    context -> context.counting().applied.get()),
            counter(
                    "duplicates",
                    "events met again and dropped",
                    context -> context.counting().duplicates.get()),
            counter(
                    "missed",
                    "events of nodes that never arrived",
                    context -> context.counting().missed.get()),
            counter(
                    "missed_from_services",
                    "events of services that never arrived",
                    context -> context.counting().missedFromServices.get()),
            counter(
                    "unknown_types",
                    "events of types that this release does not know, skipped",
                    context -> context.counting().unknownTypes.get()),
            counter(
                    "dead_letters",
                    "records sent to the dead letters",
                    context -> context.counting().deadLetters.get()),
            counter(
                    "replayed",
                    "dead letters applied after a replay",
                    context -> context.counting().replayed.get()),
            counter(
                    "new_machines",
                    "nodes whose name was taken over by another machine",
                    context -> context.counting().newMachines.get()),
            counter(
                    "commits",
                    "transactions committed",
                    context -> context.counting().commits.get()),
            counter(
                    "terms",
                    "terms begun as the leader",
                    context -> context.counting().terms.get()),
            counter(
                    "failed_terms",
                    "terms ended by a failure",
                    context -> context.counting().termsFailed.get()),
            counter(
                    "resignations",
                    "times that leading was left to another replica",
                    context -> context.counting().resignations.get()),
            counter(
                    "failed_ticks",
                    "timers that failed",
                    context -> context.counting().failedTicks.get()),
            counter(
                    "failed_keys",
                    "committed states that an actor or a listener failed on",
                    context -> context.failedKeys().count()),
            counter(
                    "skipped_offsets",
                    "records that retention removed before they were read",
                    context -> context.counting().skippedOffsets.get()),
            gauge(
                    "lag",
                    "records that wait to be read; NaN where it is not measured, as on a standby",
                    context -> context.counting().lag.get()),
            gauge(
                    "restore_milliseconds",
                    "time in which the states were read from the changelog the last time; NaN before that",
                    context -> context.counting().restoreMillis.get()),
            gauge(
                    "stale_writers",
                    "nodes whose newest events were all refused as stale",
                    context -> context.staleWriters().keys().size()),
            gauge(
                    "clock_offset_milliseconds",
                    "how far the broker's clock is ahead of ours",
                    context -> context.brokerClock().offset().toMillis()));

    private static Meter counter(String name, String description, Reading reading) {
        return new Meter("gpufleet_projection_" + name, description, true, reading);
    }

    private static Meter gauge(String name, String description, Reading reading) {
        return new Meter("gpufleet_projection_" + name, description, false, reading);
    }

    static ProjectionCounters of(EngineContext context, boolean active) {
        return new ProjectionCounters(METERS.stream()
                .map(meter -> meter.name().equals("gpufleet_active")
                        ? Long.valueOf(active ? 1 : 0)
                        : Long.valueOf(meter.reading().applyAsLong(context)))
                .toList());
    }

    /** The figure of that name, without the prefix {@code gpufleet_projection_}. */
    public long get(String name) {
        for (int i = 0; i < METERS.size(); i++) {
            if (METERS.get(i).name().equals("gpufleet_projection_" + name)) {
                return values.get(i);
            }
        }
        throw new IllegalArgumentException("no figure '" + name + "'");
    }
}
