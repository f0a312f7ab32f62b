package io.gpufleet.compose.bench;

import io.gpufleet.compose.cluster.Cluster;
import io.gpufleet.compose.fleet.FaultFile;
import io.gpufleet.compose.fleet.FleetOptions;
import io.gpufleet.compose.fleet.FleetState;
import io.gpufleet.compose.fleet.Launcher;
import io.gpufleet.compose.fleet.Processes;
import io.gpufleet.compose.fleet.Program;
import io.gpufleet.compose.fleet.Progress;
import io.gpufleet.compose.fleet.RunningFleet;
import io.gpufleet.compose.fleet.StateDirectory;
import io.gpufleet.compose.local.LocalFleet;
import io.gpufleet.kit.config.ConfigurationException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** A fault in a simulated GPU until the taint is visible, with the costs beside it, on a fleet of its own. */
public final class SliceBenchmark implements Benchmark {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    /** A GPU that fell off the bus: withdrawn at once by every policy. */
    private static final int XID = 79;

    private static final int NODES = 3;
    private static final int GPUS = 8;
    private static final int WARM_UP = 10;

    private final Path tree;
    private final int faults;
    private final String kubeconfig;

    /** With so many faults, on the cluster of a kubeconfig or, when that is empty, on the stand-in. */
    public SliceBenchmark(Path tree, int faults, String kubeconfig) {
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
        return "slice";
    }

    @Override
    public String about() {
        return "start, fault to taint, memory, restart, fold";
    }

    @Override
    public Figures run(Consumer<String> says) throws InterruptedException {
        var figures = new Figures();
        var directory = new StateDirectory(tree.resolve(".gpufleet").resolve("bench"));
        var fleet = new LocalFleet(tree, directory, new Progress(nowhere()));
        var end = new Thread(fleet::end, "down");
        Runtime.getRuntime().addShutdownHook(end);
        // What an earlier run left, Kafka's log above all, would be measured as well.
        fleet.end();
        directory.clear();
        try {
            for (String which : List.of("first", "again")) {
                says.accept("starting a fleet (" + which + " time)");
                FleetState state = start(directory).state();
                figures.add("slice.up." + which, state.secondsToReady(), "s");
                if (which.equals("first")) {
                    // Its end writes the class data that the second start reads, as on a machine in use.
                    fleet.end();
                }
            }
            measure(fleet.running().orElseThrow(), directory, figures, says);
        } finally {
            fleet.end();
            Runtime.getRuntime().removeShutdownHook(end);
        }
        new FoldBenchmark(tree).measure(figures, says);
        return figures;
    }

    private RunningFleet start(StateDirectory directory) {
        // Short, so that a node is free for the next fault soon.
        return new LocalFleet(tree, directory, new Progress(nowhere()))
                .start(new FleetOptions(NODES, GPUS, "H100", 1, kubeconfig, "200ms"), null);
    }

    private void measure(FleetState state, StateDirectory directory, Figures figures, Consumer<String> says)
            throws InterruptedException {
        try (Cluster cluster = Cluster.of(Path.of(state.kubernetes().kubeconfig()));
                var taints = new TaintWatch(cluster.client())) {
            says.accept("injecting " + WARM_UP + " faults to warm up and " + faults + " to measure");
            faults(state, taints, WARM_UP);
            figures.addSpread("slice.fault-to-taint", faults(state, taints, faults), "ms");
            for (FleetState.Started part : state.processes()) {
                Processes.residentBytes(part.identity().pid())
                        .ifPresent(bytes -> figures.add("slice.rss." + part.name(), bytes / 1048576.0, "MiB"));
            }
            says.accept("killing the health-service, breaking a GPU, starting it again");
            recover(state, directory, taints, figures);
        }
    }

    private static List<Double> faults(FleetState state, TaintWatch taints, int count) throws InterruptedException {
        var sample = new ArrayList<Double>();
        for (int i = 0; i < count; i++) {
            FleetState.NodePlace node = state.nodes().get(i % state.nodes().size());
            int gpu = i / state.nodes().size() % node.gpus();
            taints.await(node.name(), false, PATIENCE);
            long before = System.nanoTime();
            FaultFile.write(node, gpu, XID);
            sample.add(TaintWatch.millis(before, taints.await(node.name(), true, PATIENCE)));
            FaultFile.remove(node, gpu);
            // The recovery of this fault is not to be measured as part of the next.
            taints.await(node.name(), false, PATIENCE);
        }
        return sample;
    }

    private void recover(FleetState state, StateDirectory directory, TaintWatch taints, Figures figures)
            throws InterruptedException {
        FleetState.Started health = state.processes().stream()
                .filter(part -> part.program().equals(Program.HEALTH.name()))
                .findFirst()
                .orElseThrow();
        FleetState.NodePlace node = state.nodes().getFirst();
        taints.await(node.name(), false, PATIENCE);
        ProcessHandle process = health.identity().find().orElseThrow();
        process.destroyForcibly();
        Processes.gone(process, PATIENCE);
        FaultFile.write(node, 0, XID);
        long before = System.nanoTime();
        new RunningFleet(directory, state).started(new Launcher(tree, directory).again(health));
        long tainted = taints.await(node.name(), true, PATIENCE);
        figures.add("slice.restart-to-taint", TaintWatch.millis(before, tainted) / 1000, "s");
        FaultFile.remove(node, 0);
    }

    private static PrintStream nowhere() {
        return new PrintStream(OutputStream.nullOutputStream(), false);
    }
}
