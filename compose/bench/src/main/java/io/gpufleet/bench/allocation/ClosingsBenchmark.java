package io.gpufleet.bench.allocation;

import io.gpufleet.bench.harness.Benchmark;
import io.gpufleet.bench.harness.Measurements;
import io.gpufleet.bench.harness.ServiceMetrics;
import io.gpufleet.cli.fleet.PlannedProcess;
import io.gpufleet.cli.fleet.ProcessLauncher;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * A million closings: two replicas of the allocation-service fold what is told of so many pods, early, late, twice and again,
 * while the active one is killed time and again; then every second on {@code gpu.usage} is compared with the truth.
 */
public final class ClosingsBenchmark implements Benchmark {
    private static final int NODES = 1_000;
    private static final int MEBIBYTES = 1_024;
    private static final int KILLS = 5;
    private static final long SEED = 20_261_125;
    private static final Duration TIMEOUT = Duration.ofMinutes(40);

    private final Path tree;
    private final int rounds;

    /** Keeps its files in the state directory of a checkout. */
    public ClosingsBenchmark(Path tree, int closings) {
        this.tree = tree;
        this.rounds = Math.max(1, closings / (NODES * PodRuns.GPUS));
    }

    @Override
    public String name() {
        return "closings";
    }

    @Override
    public String description() {
        return "a million intervals closed exactly while replicas are killed";
    }

    @Override
    public void run(Measurements measurements, Consumer<String> log) throws InterruptedException {
        AllocationFleet.run(
                tree,
                "bench-closings",
                fleet -> measure(fleet.bootstrap(), fleet.replicas(), fleet.launcher(), measurements, log));
    }

    private void measure(
            String bootstrap,
            List<PlannedProcess> replicas,
            ProcessLauncher launcher,
            Measurements measurements,
            Consumer<String> log)
            throws InterruptedException {
        var random = new Random(SEED);
        var runs = new PodRuns(NODES, rounds, random);
        log.accept(runs.count() + " pods on " + NODES + " nodes of " + PodRuns.GPUS + " GPUs");
        try (var events = new ClosingEvents(bootstrap, runs, random);
                var published = new PublishedUsage(bootstrap, runs);
                var pair = new ReplicaPair(launcher, replicas, MEBIBYTES)) {
            CompletableFuture<Long> sent = CompletableFuture.supplyAsync(events::send);
            long begun = System.nanoTime();
            for (int kill = 1; kill <= KILLS; kill++) {
                await(published, (int) ((long) runs.count() * kill / (KILLS + 1)), begun);
                log.accept(published.closings() + " closings: killing " + pair.killActive());
            }
            await(published, runs.count(), begun);
            long all = sent.join();
            awaitEnd(pair, published, begun);
            measurements.add("closings.seconds", (System.nanoTime() - begun) / 1e9, "s");
            measurements.add("closings.events", all, "1");
            measurements.add("closings.closings", published.closings(), "1");
            measurements.add("closings.adjustments", published.adjustments(), "1");
            measurements.add("closings.kills", KILLS, "1");
            measurements.add("closings.rss.peak", pair.peakResidentMebibytes(), "MiB");
            measurements.add("closings.collections", pair.collectionSeconds(), "s");
            measurements.add("closings.pods-not-closed-once", published.podsNotClosedOnce(), "1");
            measurements.add("closings.error", published.errorSeconds(), "s");
            requireExact(published.errorSeconds(), published.podsNotClosedOnce());
        }
    }

    /** Fails where a second is missing or too many: whoever runs this must not have to read the table. */
    static void requireExact(double errorSeconds, long podsNotClosedOnce) {
        if (errorSeconds > 0 || podsNotClosedOnce > 0) {
            throw new IllegalStateException(String.format(
                    Locale.ROOT,
                    "the ledger is wrong: %.1f s missing or too many, %d pods not closed once",
                    errorSeconds,
                    podsNotClosedOnce));
        }
    }

    private static void await(PublishedUsage published, int closings, long begun) {
        while (published.closings() < closings) {
            var _ = published.poll();
            refuseLate(published, begun);
        }
    }

    /** Until the active replica has applied everything, and what it committed is read. */
    private static void awaitEnd(ReplicaPair pair, PublishedUsage published, long begun) throws InterruptedException {
        ServiceMetrics active = pair.awaitActive();
        // Before it is measured it is NaN, which is no 0 either.
        while (published.poll() || active.value("gpufleet_projection_lag") != 0 || !published.isAtEnd()) {
            refuseLate(published, begun);
            active = pair.awaitActive();
        }
    }

    private static void refuseLate(PublishedUsage published, long begun) {
        if (System.nanoTime() - begun > TIMEOUT.toNanos()) {
            throw new IllegalStateException("only " + published.closings() + " closings after " + TIMEOUT.toMinutes()
                    + " min; see .gpufleet/bench-closings/logs");
        }
    }
}
