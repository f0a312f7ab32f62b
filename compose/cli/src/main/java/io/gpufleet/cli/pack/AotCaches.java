package io.gpufleet.cli.pack;

import io.gpufleet.cli.fleet.AotCache;
import io.gpufleet.cli.fleet.ConsoleProgress;
import io.gpufleet.cli.fleet.FaultFile;
import io.gpufleet.cli.fleet.FleetOptions;
import io.gpufleet.cli.fleet.FleetState;
import io.gpufleet.cli.fleet.ProcessLauncher;
import io.gpufleet.cli.fleet.Program;
import io.gpufleet.cli.fleet.StateDirectory;
import io.gpufleet.cli.local.LocalFleet;
import io.gpufleet.kit.config.ConfigurationException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Training run of the programs of a fleet for their AOT caches: a small one with a few faults. */
public final class AotCaches {
    private static final int FAULTS = 40;
    private static final int XID = 79;
    private static final Duration PAUSE = Duration.ofMillis(500);

    private final Path tree;

    /** Caches of the programs of a built tree. */
    public AotCaches(Path tree) {
        this.tree = tree;
    }

    /** Makes the caches, unless all of them are of this build. */
    public void makeIfStale(Consumer<String> log) throws InterruptedException {
        if (!Arrays.stream(Program.values()).allMatch(program -> AotCache.fresh(tree, program))) {
            make(log);
        }
    }

    /** Makes the caches. */
    public void make(Consumer<String> log) throws InterruptedException {
        var directory = new StateDirectory(tree.resolve(".gpufleet/training-services"));
        var fleet = new LocalFleet(
                tree,
                directory,
                new ConsoleProgress(new PrintStream(OutputStream.nullOutputStream(), false)),
                ProcessLauncher.training(tree, directory));
        fleet.stop();
        directory.deleteAll();
        log.accept("training run of the fleet for its AOT caches");
        try {
            FleetState state = fleet.start(new FleetOptions(3, 8, "H100", 1, "", "200ms"), null)
                    .state();
            exercise(state);
        } finally {
            log.accept("writing the caches");
            fleet.stop();
        }
        for (Program program : Program.values()) {
            if (!AotCache.fresh(tree, program)) {
                throw new ConfigurationException("the training run wrote no " + AotCache.of(tree, program) + "; see "
                        + directory.root().resolve("logs"));
            }
        }
    }

    private static void exercise(FleetState state) throws InterruptedException {
        var pause = new Semaphore(0);
        for (int i = 0; i < FAULTS; i++) {
            FleetState.FleetNode node = state.nodes().get(i % state.nodes().size());
            int gpu = i / state.nodes().size() % node.gpus();
            FaultFile.write(node, gpu, XID);
            var _ = pause.tryAcquire(PAUSE.toMillis(), TimeUnit.MILLISECONDS);
            FaultFile.remove(node, gpu);
        }
    }
}
