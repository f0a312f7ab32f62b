package io.gpufleet.wire.projection;

import java.util.List;
import java.util.function.ToLongFunction;

/**
 * One metric of an engine, exported by every service.
 *
 * @param name Prometheus name without {@code _total}
 * @param description one line for people
 * @param monotonic true for a counter, false for a gauge
 * @param reader reads the value from the engine; may be called at any time on any thread
 */
public record ProjectionMeter(
        String name, String description, boolean monotonic, ToLongFunction<ProjectionEngine> reader) {
    /** All metrics of an engine. */
    public static final List<ProjectionMeter> ALL = List.of(
            new ProjectionMeter(
                    "gpufleet_active",
                    "1 on the active replica, else 0",
                    false,
                    engine -> engine.role() == ReplicaRole.ACTIVE ? 1 : 0),
            new ProjectionMeter(
                    "gpufleet_projection_events",
                    "events applied",
                    true,
                    engine -> engine.counters().folded()),
            new ProjectionMeter(
                    "gpufleet_projection_duplicates",
                    "duplicate events dropped",
                    true,
                    engine -> engine.counters().duplicates()),
            new ProjectionMeter(
                    "gpufleet_projection_missed",
                    "events of nodes that never arrived",
                    true,
                    engine -> engine.counters().missed()),
            new ProjectionMeter(
                    "gpufleet_projection_poisoned",
                    "records sent to the dead-letter topic",
                    true,
                    engine -> engine.counters().poisoned()),
            new ProjectionMeter(
                    "gpufleet_projection_commits",
                    "transactions committed",
                    true,
                    engine -> engine.counters().commits()),
            new ProjectionMeter(
                    "gpufleet_projection_lag",
                    "records not read yet",
                    false,
                    engine -> engine.counters().lag()),
            new ProjectionMeter(
                    "gpufleet_projection_new_machines",
                    "node names reused by another machine",
                    true,
                    engine -> engine.counters().newMachines()));
}
