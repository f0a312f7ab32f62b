package io.gpufleet.bench.health;

import io.gpufleet.bench.fleet.TaintWatcher;
import io.gpufleet.bench.harness.Benchmark;
import io.gpufleet.bench.harness.Measurements;
import io.gpufleet.bench.harness.ServiceMetrics;
import io.gpufleet.bench.projection.FleetEvents;
import io.gpufleet.bench.projection.ServiceUnderLoad;
import io.gpufleet.cli.fleet.FleetOptions;
import io.gpufleet.cli.fleet.FleetPlan;
import io.gpufleet.cli.fleet.PlannedProcess;
import io.gpufleet.cli.fleet.PortAllocator;
import io.gpufleet.cli.fleet.PortClaims;
import io.gpufleet.cli.fleet.ProcessLauncher;
import io.gpufleet.cli.fleet.Program;
import io.gpufleet.cli.fleet.StateDirectory;
import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;

/**
 * Benchmark of the health-service with a broker and an API server: fault to taint at several rates, many nodes at once,
 * restart, fail-over, memory. Mode enforce without budgets, so that everything that fails is tainted.
 */
public final class HealthBenchmark implements Benchmark {
    private static final int AT_ONCE = 200;
    private static final int WARM_UP = 100;

    private final Path tree;
    private final HealthOptions options;

    /** Keeps its files in the state directory of a checkout. */
    public HealthBenchmark(Path tree, HealthOptions options) {
        this.tree = tree;
        this.options = options;
    }

    @Override
    public String name() {
        return "health";
    }

    @Override
    public String description() {
        return "fault to taint at several rates, restart, fail-over and memory of the health-service";
    }

    @Override
    public void check() {
        options.check();
    }

    @Override
    public void run(Measurements measurements, Consumer<String> log) throws InterruptedException {
        var directory = new StateDirectory(tree.resolve(".gpufleet/bench-health"));
        directory.deleteAll();
        String kubeconfig = options.usesFakeApiServer() ? directory.kubeconfig().toString() : options.kubeconfig();
        try (var claims = new PortClaims()) {
            var plan = FleetPlan.of(
                    new FleetOptions(0, 8, "H100", 2, options.kubeconfig(), "1s"),
                    directory,
                    kubeconfig,
                    "127.0.0.1",
                    new PortAllocator(claims::claim, _ -> {}));
            var launcher = new ProcessLauncher(tree, directory);
            try (var cluster = BenchmarkCluster.start(launcher, plan, Path.of(kubeconfig), options);
                    var broker = BrokerProcess.start(directory.broker(), plan.kafkaPort());
                    var events = new FleetEvents(broker.bootstrap(), options.nodes())) {
                TopicAdmin.apply(broker.bootstrap(), new Topics(Topics.DEFAULT_PREFIX));
                log.accept("creating " + options.nodes() + " Node objects and announcing them");
                cluster.createNodes(options.nodes());
                events.announceAll();
                measure(plan, launcher, cluster, events, measurements, log);
            }
        }
    }

    private void measure(
            FleetPlan plan,
            ProcessLauncher launcher,
            BenchmarkCluster cluster,
            FleetEvents events,
            Measurements measurements,
            Consumer<String> log)
            throws InterruptedException {
        List<PlannedProcess> replicas = plan.of(Program.HEALTH);
        if (options.backlog() > 0) {
            new BacklogRun(launcher, replicas.getFirst(), plan.bootstrap(), cluster.client(), options.nodes())
                    .measure(events, options.backlog(), measurements, log);
        } else if (options.rate() > 0) {
            try (var service = ServiceUnderLoad.start(
                    launcher, replicas.getFirst(), ServiceUnderLoad.canConfine(), ServiceUnderLoad.LARGE_MEBIBYTES)) {
                service.work(options.nodes());
                service.awaitRest();
                new SustainedRates(service, events).search(options.rate(), measurements, log);
            }
        } else if (options.replay()) {
            log.accept("writing what " + options.nodes() + " nodes tell in 7 d, and replaying it with policy diff");
            new PolicyReplay(launcher, replicas.getFirst(), options.nodes()).measure(events, measurements);
        } else {
            try (var taints = new TaintWatcher(cluster.client())) {
                measure(replicas, launcher, new Load(events, taints), measurements, log);
            }
        }
    }

    /** Writers that act on the fleet, and the watch that observes it. */
    private record Load(FleetEvents events, TaintWatcher taints) {
        FaultRates rates() {
            return new FaultRates(events, taints);
        }
    }

    private void measure(
            List<PlannedProcess> replicas,
            ProcessLauncher launcher,
            Load load,
            Measurements measurements,
            Consumer<String> log)
            throws InterruptedException {
        try (var first = ServiceUnderLoad.start(launcher, replicas.getFirst())) {
            first.work(options.nodes());
            first.awaitRest();
            log.accept("warming up");
            load.rates().atOnce(WARM_UP);
            load.rates().recover(WARM_UP);
            rates(first, load, measurements, log);
            measurements.add("health.rss", first.residentMebibytes(), "MiB");
            double heap = first.liveHeapMebibytes();
            measurements.add("health.heap", heap, "MiB");
            measurements.add("health.heap-of-1000-nodes", heap * 1_000 / options.nodes(), "MiB");
            log.accept("starting a standby, killing the leader");
            try (var standby = ServiceUnderLoad.start(launcher, replicas.get(1))) {
                standby.awaitReady();
                measurements.add("health.fail-over-to-taint", killed(first, load), "s");
            }
        }
        log.accept("restarting alone");
        load.events().fatal(0);
        load.events().flush();
        long before = System.nanoTime();
        try (var _ = ServiceUnderLoad.start(launcher, replicas.getFirst())) {
            long tainted = load.taints().await(FleetEvents.node(0), true, FaultRates.TIMEOUT);
            measurements.add("health.restart-to-taint", TaintWatcher.millis(before, tainted) / 1000, "s");
        }
    }

    private static void rates(ServiceUnderLoad service, Load load, Measurements measurements, Consumer<String> log)
            throws InterruptedException {
        for (Rate rate : List.of(new Rate(0.5, 20), new Rate(10, 200), new Rate(100, HealthOptions.MIN_NODES))) {
            log.accept(rate.count() + " nodes fail, " + rate.perSecond() + " a second");
            ServiceMetrics before = ServiceMetrics.scrape(service.process());
            String name = "health.fault-to-taint.at-" + rate.perSecond();
            load.rates().atRate(name, rate.perSecond(), rate.count(), measurements);
            FaultRates.addStages(name, service.process(), before, measurements);
            load.rates().recover(rate.count());
        }
        log.accept(AT_ONCE + " nodes fail at once");
        measurements.addDistribution(
                "health.fault-to-taint.at-once", load.rates().atOnce(AT_ONCE), "ms");
        load.rates().recover(AT_ONCE);
    }

    /** Nodes that fail each second, and how many. */
    private record Rate(double perSecond, int count) {}

    /** Seconds from the end of the leader to the taint of a node that failed at that moment. */
    private static double killed(ServiceUnderLoad leader, Load load) throws InterruptedException {
        leader.kill();
        long before = System.nanoTime();
        load.events().fatal(0);
        load.events().flush();
        long tainted = load.taints().await(FleetEvents.node(0), true, FaultRates.TIMEOUT);
        load.events().repaired(0);
        load.events().flush();
        load.taints().await(FleetEvents.node(0), false, FaultRates.TIMEOUT);
        return TaintWatcher.millis(before, tainted) / 1000;
    }
}
