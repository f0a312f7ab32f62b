package io.gpufleet.compose.bench;

import io.gpufleet.compose.broker.BrokerProcess;
import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import io.gpufleet.wire.fold.FoldEngine;
import io.gpufleet.wire.fold.FoldSettings;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Arrays;
import java.util.function.Consumer;

/** How many events a second one engine folds, transactions included, on a broker of its own. */
public final class FoldBenchmark implements Benchmark {
    private static final int EVENTS = 300_000;
    private static final int NODES = 1_000;
    private static final Duration PATIENCE = Duration.ofMinutes(5);

    private final Path tree;

    /** In the state directory of a checkout. */
    public FoldBenchmark(Path tree) {
        this.tree = tree;
    }

    @Override
    public String name() {
        return "fold";
    }

    @Override
    public String about() {
        return "events a second folded by one service";
    }

    @Override
    public Figures run(Consumer<String> says) throws InterruptedException {
        var figures = new Figures();
        measure(figures, says);
        return figures;
    }

    /** Adds the figures to those of another benchmark. */
    void measure(Figures figures, Consumer<String> says) throws InterruptedException {
        says.accept("folding " + EVENTS + " events of " + NODES + " nodes");
        Path directory =
                tree.resolve(".gpufleet/bench/fold-" + ProcessHandle.current().pid());
        try (var broker = BrokerProcess.start(directory)) {
            var codec = new Codec("bench", new Topics("bench."));
            TopicAdmin.apply(broker.bootstrap(), codec.topics());
            FoldMix.fill(broker.bootstrap(), codec, EVENTS, NODES);
            var settings = new FoldSettings("fold", "fold-0", broker.bootstrap(), "", FoldSettings.SESSION);
            var folder = new MeasuredFold(EVENTS);
            try (var engine = FoldEngine.start(settings, codec, folder, Clock.systemUTC())) {
                double seconds = folder.seconds(PATIENCE)
                        .orElseThrow(() -> new ConfigurationException(
                                "not folded within " + PATIENCE.toMinutes() + " min: " + engine.notReady()));
                figures.add("fold.events", EVENTS / seconds, "1/s");
                figures.add("fold.events-per-cpu-second", EVENTS / (cpuNanos("fold-fold") / 1e9), "1/s");
                figures.add("fold.transactions", engine.counters().commits(), "1");
            }
        }
    }

    private static long cpuNanos(String thread) {
        var threads = ManagementFactory.getThreadMXBean();
        return Arrays.stream(threads.getThreadInfo(threads.getAllThreadIds()))
                .filter(info -> info != null && info.getThreadName().equals(thread))
                .mapToLong(info -> threads.getThreadCpuTime(info.getThreadId()))
                .sum();
    }
}
