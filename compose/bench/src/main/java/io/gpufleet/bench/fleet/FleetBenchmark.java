package io.gpufleet.bench.fleet;

import io.gpufleet.bench.harness.Benchmark;
import io.gpufleet.bench.harness.Measurements;
import io.gpufleet.cli.fleet.ConsoleProgress;
import io.gpufleet.cli.fleet.FaultFile;
import io.gpufleet.cli.fleet.FleetOptions;
import io.gpufleet.cli.fleet.FleetState;
import io.gpufleet.cli.fleet.ProcessLauncher;
import io.gpufleet.cli.fleet.Processes;
import io.gpufleet.cli.fleet.RunningFleet;
import io.gpufleet.cli.fleet.StateDirectory;
import io.gpufleet.cli.local.LocalFleet;
import io.gpufleet.kit.config.ConfigurationException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;

/** Benchmark on a fleet of its own: start, fault in a simulated GPU to visible taint, memory, restart. */
public final class FleetBenchmark implements Benchmark {
    private static final int NODES = 3;
    private static final int GPUS = 8;

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
        return "start, fault to taint with its hops, memory, restart";
    }

    @Override
    public void run(Measurements measurements, Consumer<String> log) throws InterruptedException {
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
                    firstFault(state, which, measurements);
                    fleet.stop();
                }
            }
            FleetState state = fleet.running().orElseThrow();
            firstFault(state, "again", measurements);
            measure(state, directory, measurements, log);
        } finally {
            fleet.stop();
            Runtime.getRuntime().removeShutdownHook(end);
        }
    }

    private static void firstFault(FleetState state, String which, Measurements measurements)
            throws InterruptedException {
        try (var latency = new FaultLatency(state)) {
            latency.first(which, measurements);
        }
    }

    private RunningFleet start(StateDirectory directory) {
        // Short, so that a node is free for the next fault soon.
        return new LocalFleet(tree, directory, new ConsoleProgress(discarding()))
                .start(new FleetOptions(NODES, GPUS, "H100", 1, kubeconfig, "200ms"), null);
    }

    private void measure(FleetState state, StateDirectory directory, Measurements measurements, Consumer<String> log)
            throws InterruptedException {
        try (var latency = new FaultLatency(state)) {
            latency.measure(faults, measurements, log);
            for (FleetState.FleetProcess part : state.processes()) {
                Processes.residentBytes(part.identity().pid())
                        .ifPresent(bytes -> measurements.add("fleet.rss." + part.name(), bytes / 1048576.0, "MiB"));
            }
            log.accept("killing the health-service, injecting a fault, restarting it");
            measureRestart(state, directory, latency.taints(), measurements);
        }
    }

    private void measureRestart(
            FleetState state, StateDirectory directory, TaintWatcher taints, Measurements measurements)
            throws InterruptedException {
        FleetState.FleetProcess health = FaultLatency.health(state);
        FleetState.FleetNode node = state.nodes().getFirst();
        taints.await(node.name(), false, FaultLatency.TIMEOUT);
        ProcessHandle process = health.identity().find().orElseThrow();
        process.destroyForcibly();
        Processes.awaitExit(process, FaultLatency.TIMEOUT);
        FaultFile.write(node, 0, FaultLatency.XID);
        long before = System.nanoTime();
        new RunningFleet(directory, state).add(new ProcessLauncher(tree, directory).restart(health));
        long tainted = taints.await(node.name(), true, FaultLatency.TIMEOUT);
        measurements.add("fleet.restart-to-taint", TaintWatcher.millis(before, tainted) / 1000, "s");
        FaultFile.remove(node, 0);
    }

    private static PrintStream discarding() {
        return new PrintStream(OutputStream.nullOutputStream(), false);
    }
}
