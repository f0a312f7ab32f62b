package io.gpufleet.bench.projection;

import io.gpufleet.bench.harness.Benchmark;
import io.gpufleet.bench.harness.Measurements;
import io.gpufleet.cli.fleet.FleetOptions;
import io.gpufleet.cli.fleet.FleetPlan;
import io.gpufleet.cli.fleet.PlannedProcess;
import io.gpufleet.cli.fleet.PortAllocator;
import io.gpufleet.cli.fleet.ProcessLauncher;
import io.gpufleet.cli.fleet.Processes;
import io.gpufleet.cli.fleet.Program;
import io.gpufleet.cli.fleet.ReadinessProbe;
import io.gpufleet.cli.fleet.StateDirectory;
import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
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
        var directory = new StateDirectory(tree.resolve(".gpufleet/bench-reads"));
        directory.deleteAll();
        var plan = FleetPlan.of(
                new FleetOptions(0, 8, "H100", 1, "", "1s"),
                directory,
                directory.kubeconfig().toString(),
                "127.0.0.1",
                new PortAllocator(PortAllocator::isFree, _ -> {}));
        var launcher = new ProcessLauncher(tree, directory);
        try (var broker = BrokerProcess.start(directory.broker(), plan.kafkaPort());
                var events = new FleetEvents(broker.bootstrap(), nodes)) {
            TopicAdmin.apply(broker.bootstrap(), new Topics(Topics.DEFAULT_PREFIX));
            var kubernetes = launcher.start(plan.of(Program.FAKE_API_SERVER).getFirst());
            try {
                ReadinessProbe.await(kubernetes, Duration.ofSeconds(60));
                log.accept("announcing " + nodes + " nodes of 8 GPUs");
                events.announceAll();
                measure(launcher, plan.of(Program.INVENTORY).getFirst(), measurements, log);
            } finally {
                kubernetes
                        .identity()
                        .find()
                        .ifPresent(process -> Processes.terminate(List.of(process), Duration.ofSeconds(20)));
            }
        }
    }

    private void measure(
            ProcessLauncher launcher, PlannedProcess inventory, Measurements measurements, Consumer<String> log)
            throws InterruptedException {
        try (var service = ServiceUnderLoad.start(launcher, inventory, false)) {
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
