package io.gpufleet.wire.fold;

import java.util.List;
import java.util.function.ToLongFunction;

/**
 * One figure of a fold, as every service shows it on its metrics page.
 *
 * @param name Prometheus name without the suffix that its kind asks for
 * @param about one line for people
 * @param rises whether it only ever rises until the process ends, so that it is a counter and no gauge
 * @param reader takes it from the engine, at any time, on any thread
 */
public record FoldMeter(String name, String about, boolean rises, ToLongFunction<FoldEngine> reader) {
    /** Every figure of a fold. */
    public static final List<FoldMeter> ALL = List.of(
            new FoldMeter(
                    "gpufleet_active",
                    "1 on the replica that acts",
                    false,
                    engine -> engine.role() == Role.ACTIVE ? 1 : 0),
            new FoldMeter(
                    "gpufleet_fold_events",
                    "events applied",
                    true,
                    engine -> engine.counters().folded()),
            new FoldMeter(
                    "gpufleet_fold_duplicates",
                    "events met again and dropped",
                    true,
                    engine -> engine.counters().duplicates()),
            new FoldMeter(
                    "gpufleet_fold_missed",
                    "events of nodes that never arrived",
                    true,
                    engine -> engine.counters().missed()),
            new FoldMeter(
                    "gpufleet_fold_poisoned",
                    "records sent to the dead letters",
                    true,
                    engine -> engine.counters().poisoned()),
            new FoldMeter(
                    "gpufleet_fold_commits",
                    "transactions committed",
                    true,
                    engine -> engine.counters().commits()),
            new FoldMeter(
                    "gpufleet_fold_lag",
                    "records that wait to be read",
                    false,
                    engine -> engine.counters().lag()),
            new FoldMeter(
                    "gpufleet_fold_new_machines",
                    "nodes whose name was taken over by another machine",
                    true,
                    engine -> engine.counters().newMachines()));
}
