package io.gpufleet.bench.projection;

import io.gpufleet.bench.harness.Benchmark;
import io.gpufleet.bench.harness.Measurements;
import io.gpufleet.cli.fleet.PlannedProcess;
import io.gpufleet.cli.fleet.Program;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Consumer;

/** Benchmark of the inventory's queries on a fleet of many nodes, and of its probes while they are asked. */
public final class ReadsBenchmark implements Benchmark {
    private static final Duration LOAD = Duration.ofSeconds(30);
    private static final int CLIENTS = 8;

    private final Path tree;
    private final int nodes;

    /** Keeps its files in the state directory of a checkout. */
    public ReadsBenchmark(Path tree, int nodes) {
        this.tree = tree;
        this.nodes = nodes;
    }

    @Override
    public String name() {
        return "reads";
    }

    @Override
    public String description() {
        return "probes and queries of the inventory under load";
    }

    @Override
    public void run(Measurements measurements, Consumer<String> log) throws InterruptedException {
        try (var environment = ServiceEnvironment.start(tree, "bench-reads", nodes)) {
            log.accept("announcing " + nodes + " nodes of 8 GPUs");
            environment.events().announceAll();
            measure(environment, measurements, log);
        }
    }

    private void measure(ServiceEnvironment environment, Measurements measurements, Consumer<String> log)
            throws InterruptedException {
        PlannedProcess inventory = environment.planned(Program.INVENTORY);
        try (var service = ServiceUnderLoad.start(environment.launcher(), inventory)) {
            service.work(nodes);
            var load = new ReadLoad(service.httpPort());
            log.accept("probes of an idle service");
            measurements.addDistribution("reads.livez.idle", load.probe(Duration.ofSeconds(5), 0), "ms");
            log.accept("probes beside " + CLIENTS + " clients that query without a pause");
            measurements.addDistribution("reads.livez.loaded", load.probe(LOAD, CLIENTS), "ms");
            load.latencies().forEach((path, sample) -> measurements.addDistribution("reads " + path, sample, "ms"));
        }
    }
}
