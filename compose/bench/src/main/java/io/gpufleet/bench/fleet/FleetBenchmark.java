package io.gpufleet.bench.fleet;

import io.gpufleet.bench.harness.Benchmark;
import io.gpufleet.bench.harness.Measurements;
import io.gpufleet.bench.projection.ProjectionBenchmark;
import io.gpufleet.cli.cluster.KubernetesCluster;
import io.gpufleet.cli.fleet.ConsoleProgress;
import io.gpufleet.cli.fleet.FaultFile;
import io.gpufleet.cli.fleet.FleetOptions;
import io.gpufleet.cli.fleet.FleetState;
import io.gpufleet.cli.fleet.ProcessLauncher;
import io.gpufleet.cli.fleet.Processes;
import io.gpufleet.cli.fleet.Program;
import io.gpufleet.cli.fleet.RunningFleet;
import io.gpufleet.cli.fleet.StateDirectory;
import io.gpufleet.cli.local.LocalFleet;
import io.gpufleet.kit.config.ConfigurationException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Benchmark on a fleet of its own: start, fault in a simulated GPU to visible taint, memory, restart. */
public final class FleetBenchmark implements Benchmark {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    /** A GPU that fell off the bus: withdrawn at once by every policy. */
    private static final int XID = 79;

    private static final int NODES = 3;
    private static final int GPUS = 8;
    private static final int WARM_UP = 10;

    private final Path tree;
    private final int faults;
    private final String kubeconfig;

    /** Measures this many faults, on the cluster of a kubeconfig or, when that is empty, on the fake API server. */
    public FleetBenchmark(Path tree, int faults, String kubeconfig) {
        if (faults < 1) {
            throw new ConfigurationException("--faults " + faults + " is not usable: it takes 1 or more");
        }
        this.tree = tree;
        this.faults = faults;
        this.kubeconfig =
                kubeconfig.isEmpty() ? "" : Path.of(kubeconfig).toAbsolutePath().toString();
    }

    @Override
    public String name() {
        return "fleet";
    }

    @Override
    public String description() {
        return "start, fault to taint, memory, restart, fold";
    }

    @Override
    public Measurements run(Consumer<String> log) throws InterruptedException {
        var measurements = new Measurements();
        var directory = new StateDirectory(tree.resolve(".gpufleet").resolve("bench"));
        var fleet = new LocalFleet(tree, directory, new ConsoleProgress(discarding()));
        var end = new Thread(fleet::stop, "down");
        Runtime.getRuntime().addShutdownHook(end);
        // State of an earlier run, above all Kafka's log, would be measured as well.
        fleet.stop();
        directory.deleteAll();
        try {
            for (String which : List.of("first", "again")) {
                log.accept("starting a fleet (" + which + " time)");
                FleetState state = start(directory).state();
                measurements.add("fleet.up." + which, state.secondsToReady(), "s");
                if (which.equals("first")) {
                    // Its exit writes the class data that the second start reads.
                    fleet.stop();
                }
            }
            measure(fleet.running().orElseThrow(), directory, measurements, log);
        } finally {
            fleet.stop();
            Runtime.getRuntime().removeShutdownHook(end);
        }
        new ProjectionBenchmark(tree).measure(measurements, log);
        return measurements;
    }

    private RunningFleet start(StateDirectory directory) {
        // Short, so that a node is free for the next fault soon.
        return new LocalFleet(tree, directory, new ConsoleProgress(discarding()))
                .start(new FleetOptions(NODES, GPUS, "H100", 1, kubeconfig, "200ms"), null);
    }

    private void measure(FleetState state, StateDirectory directory, Measurements measurements, Consumer<String> log)
            throws InterruptedException {
        try (KubernetesCluster cluster =
                        KubernetesCluster.of(Path.of(state.kubernetes().kubeconfig()));
                var taints = new TaintWatcher(cluster.client())) {
            log.accept("injecting " + WARM_UP + " faults to warm up and " + faults + " to measure");
            faults(state, taints, WARM_UP);
            measurements.addDistribution("fleet.fault-to-taint", faults(state, taints, faults), "ms");
            for (FleetState.FleetProcess part : state.processes()) {
                Processes.residentBytes(part.identity().pid())
                        .ifPresent(bytes -> measurements.add("fleet.rss." + part.name(), bytes / 1048576.0, "MiB"));
            }
            log.accept("killing the health-service, injecting a fault, restarting it");
            measureRestart(state, directory, taints, measurements);
        }
    }

    private static List<Double> faults(FleetState state, TaintWatcher taints, int count) throws InterruptedException {
        var sample = new ArrayList<Double>();
        for (int i = 0; i < count; i++) {
            FleetState.FleetNode node = state.nodes().get(i % state.nodes().size());
            int gpu = i / state.nodes().size() % node.gpus();
            taints.await(node.name(), false, TIMEOUT);
            long before = System.nanoTime();
            FaultFile.write(node, gpu, XID);
            sample.add(TaintWatcher.millis(before, taints.await(node.name(), true, TIMEOUT)));
            FaultFile.remove(node, gpu);
            // The recovery of this fault is not part of the next sample.
            taints.await(node.name(), false, TIMEOUT);
        }
        return sample;
    }

    private void measureRestart(
            FleetState state, StateDirectory directory, TaintWatcher taints, Measurements measurements)
            throws InterruptedException {
        FleetState.FleetProcess health = state.processes().stream()
                .filter(part -> part.program().equals(Program.HEALTH.name()))
                .findFirst()
                .orElseThrow();
        FleetState.FleetNode node = state.nodes().getFirst();
        taints.await(node.name(), false, TIMEOUT);
        ProcessHandle process = health.identity().find().orElseThrow();
        process.destroyForcibly();
        Processes.awaitExit(process, TIMEOUT);
        FaultFile.write(node, 0, XID);
        long before = System.nanoTime();
        new RunningFleet(directory, state).add(new ProcessLauncher(tree, directory).restart(health));
        long tainted = taints.await(node.name(), true, TIMEOUT);
        measurements.add("fleet.restart-to-taint", TaintWatcher.millis(before, tainted) / 1000, "s");
        FaultFile.remove(node, 0);
    }

    private static PrintStream discarding() {
        return new PrintStream(OutputStream.nullOutputStream(), false);
    }
}
