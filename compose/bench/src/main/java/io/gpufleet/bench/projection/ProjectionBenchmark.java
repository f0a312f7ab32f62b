package io.gpufleet.bench.projection;

import io.gpufleet.bench.harness.Benchmark;
import io.gpufleet.bench.harness.Measurements;
import io.gpufleet.cli.fleet.PlannedProcess;
import io.gpufleet.cli.fleet.Program;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;

/**
 * Benchmark of the three services on a fleet of many nodes, one after the other on a broker with the log of that fleet, another
 * one for each number of cores: the states of all nodes made, restored, and events folded. The health-service gets the usual
 * mix, and after it a projection that does almost nothing on the same inputs, whose states it replaces; the other two, of whose
 * inputs that mix has a tenth, get as many of their own.
 */
public final class ProjectionBenchmark implements Benchmark {
    /** In this order, so that the verdicts of one are no input of the others. */
    private static final List<Program> SERVICES = List.of(Program.ALLOCATION, Program.INVENTORY, Program.HEALTH);

    /** Part of the mix that is an input of the others than the health-service. */
    private static final double OF_ALL = 0.1;

    private final Path tree;
    private final int nodes;
    private final int events;
    private final int mebibytes;

    /**
     * Keeps its files in the state directory of a checkout.
     *
     * @param mebibytes memory limit of a service
     */
    public ProjectionBenchmark(Path tree, int nodes, int events, int mebibytes) {
        this.tree = tree;
        this.nodes = nodes;
        this.events = events;
        this.mebibytes = mebibytes;
    }

    @Override
    public String name() {
        return "fold";
    }

    @Override
    public String description() {
        return "events per second folded by each service, restore";
    }

    @Override
    public void run(Measurements measurements, Consumer<String> log) throws InterruptedException {
        if (ServiceUnderLoad.canConfine()) {
            run(true, measurements, log);
        }
        run(false, measurements, log);
    }

    /** On a log of its own: the health-service reads the decisions of earlier runs beside its inputs. */
    private void run(boolean oneCore, Measurements measurements, Consumer<String> log) throws InterruptedException {
        try (var environment = ServiceEnvironment.start(tree, "bench-fold", nodes)) {
            environment.define(tree);
            begin(environment, !oneCore, measurements, log);
            environment.events().mix(events);
            fold(Program.HEALTH, events, environment, oneCore, measurements, log);
            floor(environment, oneCore, measurements, log);
            environment.events().change(events);
            double waiting = events * (1 + 2 * OF_ALL);
            fold(Program.ALLOCATION, waiting, environment, oneCore, measurements, log);
            fold(Program.INVENTORY, waiting, environment, oneCore, measurements, log);
        }
    }

    /** The states of all nodes, on every core. */
    private void begin(
            ServiceEnvironment environment, boolean measured, Measurements measurements, Consumer<String> steps)
            throws InterruptedException {
        steps.accept("announcing " + nodes + " nodes of 8 GPUs");
        environment.events().announceAll();
        for (Program service : SERVICES) {
            steps.accept(name(service) + ": making the states of all nodes");
            try (var running =
                    ServiceUnderLoad.start(environment.launcher(), environment.planned(service), false, mebibytes)) {
                double perSecond = running.work(nodes).perSecond();
                if (measured) {
                    measurements.add(prefix(service) + "announcements", perSecond, "1/s");
                }
            }
        }
    }

    /** The service restores its states and works off what waits for it. */
    private void fold(
            Program service,
            double waiting,
            ServiceEnvironment environment,
            boolean oneCore,
            Measurements measurements,
            Consumer<String> steps)
            throws InterruptedException {
        steps.accept(
                name(service) + ": restoring and folding on " + cores(oneCore).replace('-', ' '));
        try (var running =
                ServiceUnderLoad.start(environment.launcher(), environment.planned(service), oneCore, mebibytes)) {
            fold(running, waiting, prefix(service), cores(oneCore), measurements);
        }
    }

    /** The same mix anew, since the health-service has worked off the one before. */
    private void floor(
            ServiceEnvironment environment, boolean oneCore, Measurements measurements, Consumer<String> steps)
            throws InterruptedException {
        environment.events().mix(events);
        steps.accept("floor: folding the inputs of health on " + cores(oneCore).replace('-', ' '));
        PlannedProcess health = environment.planned(Program.HEALTH);
        try (var running = ServiceUnderLoad.start(
                environment.launcher(),
                FloorProcess.planned(health),
                FloorProcess.command(environment.launcher(), health),
                oneCore,
                mebibytes)) {
            fold(running, events, "fold.floor.", cores(oneCore), measurements);
        }
    }

    private static void fold(
            ServiceUnderLoad running, double waiting, String prefix, String cores, Measurements measurements)
            throws InterruptedException {
        ServiceUnderLoad.Work work = running.workOff(waiting);
        measurements.add(prefix + "restore." + cores, running.restoreSeconds(), "s");
        measurements.add(prefix + "events." + cores, work.perSecond(), "1/s");
        measurements.add(prefix + "events-per-cpu-second." + cores, work.perCpuSecond(), "1/s");
        measurements.add(prefix + "rss." + cores, running.residentMebibytes(), "MiB");
    }

    private static String cores(boolean oneCore) {
        return oneCore ? "one-core" : "all-cores";
    }

    private static String name(Program service) {
        return service.name().toLowerCase(Locale.ROOT);
    }

    private static String prefix(Program service) {
        return "fold." + name(service) + ".";
    }
}
