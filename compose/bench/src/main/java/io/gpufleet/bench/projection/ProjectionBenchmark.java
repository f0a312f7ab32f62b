package io.gpufleet.bench.projection;

import io.gpufleet.bench.harness.Benchmark;
import io.gpufleet.bench.harness.Measurements;
import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.runtime.engine.EngineConfig;
import io.gpufleet.runtime.engine.ProjectionEngine;
import io.gpufleet.runtime.projection.Actor;
import io.gpufleet.runtime.projection.ProjectionSettings;
import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.KafkaClients;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Arrays;
import java.util.function.Consumer;

/** Benchmark of one projection engine, transactions included, on a broker of its own: events per second. */
public final class ProjectionBenchmark implements Benchmark {
    private static final String SERVICE = "fold";
    private static final int EVENTS = 300_000;
    private static final int NODES = 1_000;
    private static final Duration TIMEOUT = Duration.ofMinutes(5);

    private final Path tree;

    /** Keeps its files in the state directory of a checkout. */
    public ProjectionBenchmark(Path tree) {
        this.tree = tree;
    }

    @Override
    public String name() {
        return "fold";
    }

    @Override
    public String description() {
        return "events per second folded by one service";
    }

    @Override
    public Measurements run(Consumer<String> log) throws InterruptedException {
        var measurements = new Measurements();
        measure(measurements, log);
        return measurements;
    }

    /** Adds the measurements to those of another benchmark. */
    public void measure(Measurements measurements, Consumer<String> log) throws InterruptedException {
        log.accept("folding " + EVENTS + " events of " + NODES + " nodes");
        Path directory =
                tree.resolve(".gpufleet/bench/fold-" + ProcessHandle.current().pid());
        try (var broker = BrokerProcess.start(directory)) {
            var codec = new Codec("bench", new Topics("bench."));
            TopicAdmin.apply(broker.bootstrap(), codec.topics());
            EventMix.produce(broker.bootstrap(), codec, EVENTS, NODES);
            var settings = new ProjectionSettings(SERVICE, "health-service-0", "", ProjectionSettings.SESSION);
            var config = new EngineConfig(settings, codec, KafkaClients.plain(broker.bootstrap()), Clock.systemUTC());
            var projection = new MeasuredProjection(EVENTS);
            try (var engine = ProjectionEngine.start(config, projection, Actor.none(), projection, log)) {
                double seconds = projection
                        .seconds(TIMEOUT)
                        .orElseThrow(() -> new ConfigurationException(
                                "not folded within " + TIMEOUT.toMinutes() + " min: " + engine.readinessFailures()));
                measurements.add("fold.events", EVENTS / seconds, "1/s");
                measurements.add(
                        "fold.events-per-cpu-second", EVENTS / (cpuNanos(SERVICE + "-projection") / 1e9), "1/s");
                measurements.add("fold.transactions", engine.counters().get("commits"), "1");
            }
        }
    }

    private static long cpuNanos(String thread) {
        var threads = ManagementFactory.getThreadMXBean();
        return Arrays.stream(threads.getThreadInfo(threads.getAllThreadIds()))
                .filter(info -> info != null && info.getThreadName().equals(thread))
                .mapToLong(info -> threads.getThreadCpuTime(info.getThreadId()))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("the projection engine has no thread '" + thread + "'"));
    }
}
