package io.gpufleet.bench.projection;

import io.gpufleet.bench.harness.Benchmark;
import io.gpufleet.bench.harness.Measurements;
import io.gpufleet.cli.fleet.PlannedProcess;
import io.gpufleet.cli.fleet.Program;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.Consumer;

/**
 * Benchmark of the questions to the inventory and to the ledger of a fleet of many nodes, and of the probes while they are
 * asked.
 */
public final class ReadsBenchmark implements Benchmark {
    private static final Duration IDLE = Duration.ofSeconds(5);
    private static final Duration LOAD = Duration.ofSeconds(30);
    /** Less than intervals are kept for. */
    private static final Duration MONTH = Duration.ofDays(29);

    private static final int CLIENTS = 8;

    /** About as many as a replica of the largest size keeps. */
    private static final int USAGE_INTERVALS = 300_000;

    /** The dearest pages, the rarest matches, the census and the scrape. */
    private static final List<String> INVENTORY_PATHS = List.of(
            "/v1/nodes?limit=1000",
            "/v1/devices?limit=1000&model=H100",
            "/v1/nodes?health=lost",
            "/v1/summary",
            "/v1/models",
            "/metrics");

    /** A day by few groups and, as CSV, by many, a month by few and by many, the holders, and the scrape. */
    private static final List<String> LEDGER_PATHS = List.of(
            "/v1/usage",
            "/v1/usage?from=MONTH",
            "/v1/usage?from=MONTH&group-by=namespace,owner,product",
            "/v1/usage?group-by=namespace,owner,resource&format=csv",
            "/v1/holdings?limit=1000",
            "/v1/holdings?namespace=none",
            "/metrics");

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
        return "probes and queries of the inventory and of the ledger under load";
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
            load(service, "reads.", INVENTORY_PATHS, measurements, log);
        }
        environment.events().holdAll();
        environment.define(tree);
        PlannedProcess allocation = environment.planned(Program.ALLOCATION);
        // A changelog of its own: usage of a month without one would be that of a changelog which was lost.
        try (var service = ServiceUnderLoad.start(environment.launcher(), allocation)) {
            service.work(2.0 * nodes);
            service.awaitReady();
        }
        log.accept("closing " + USAGE_INTERVALS + " intervals of a month");
        new UsageRecords(nodes, USAGE_INTERVALS).send(environment.bootstrap());
        try (var service = ServiceUnderLoad.start(environment.launcher(), allocation)) {
            service.awaitReady();
            String month = Instant.now().minus(MONTH).toString();
            List<String> paths = LEDGER_PATHS.stream()
                    .map(path -> path.replace("MONTH", month))
                    .toList();
            load(service, "reads.ledger.", paths, measurements, log);
        }
    }

    private static void load(
            ServiceUnderLoad service, String name, List<String> paths, Measurements measurements, Consumer<String> log)
            throws InterruptedException {
        var load = new ReadLoad(service.httpPort(), paths);
        log.accept(service.process().name() + ": probes of an idle service");
        measurements.addDistribution(name + "livez.idle", load.probe(IDLE, 0), "ms");
        log.accept(service.process().name() + ": probes beside " + CLIENTS + " clients that query without a pause");
        measurements.addDistribution(name + "livez.loaded", load.probe(LOAD, CLIENTS), "ms");
        load.latencies()
                .forEach((path, sample) -> measurements.addDistribution(
                        "reads " + path.replaceAll("from=[^&]+", "from=a-month-ago"), sample, "ms"));
        measurements.add(name + "rss", service.residentMebibytes(), "MiB");
    }
}
