package io.gpufleet.bench.projection;

import io.gpufleet.bench.harness.ServiceMetrics;
import io.gpufleet.cli.fleet.FleetState;
import io.gpufleet.cli.fleet.PlannedProcess;
import io.gpufleet.cli.fleet.ProcessLauncher;
import io.gpufleet.cli.fleet.Processes;
import io.gpufleet.cli.fleet.ReadinessProbe;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** One service, started as it is shipped but with a heap for a large fleet, that works off what waits for it. */
public final class ServiceUnderLoad implements AutoCloseable {
    private static final Path TASKSET = Path.of("/usr/bin/taskset");
    /** Memory limit of a container for 100,000 nodes, in MiB. */
    public static final int LARGE_MEBIBYTES = 3500;

    /**
     * Memory from which on, with two processors, the virtual machine chooses G1 by itself, and below which the serial collector;
     * from which on an image has the arguments of a large fleet (compose/docker/large.sh).
     */
    private static final int SERVER_MEBIBYTES = 1_792;

    private static final String ARGUMENTS = "jvm.args";

    /** So long a service may make no progress, or take to end. */
    private static final Duration TIMEOUT = Duration.ofMinutes(3);
    /** Processor time in that time by which a service that is not ready yet makes progress. */
    private static final Duration BUSY = TIMEOUT.dividedBy(20);
    /** A service that has applied nothing for so long has nothing left to do. */
    private static final Duration REST = Duration.ofSeconds(5);
    /** A scrape counts every device of the fleet: ten times a second it would be part of what is measured. */
    private static final Duration SCRAPE_INTERVAL = Duration.ofMillis(500);

    private static final Path JCMD = Path.of(System.getProperty("java.home"), "bin", "jcmd");
    /** Last line of a histogram of classes: instances, bytes. */
    private static final Pattern TOTAL = Pattern.compile("Total +\\d+ +(\\d+)");

    private static final Pattern COUNTER =
            Pattern.compile("(sun\\.gc\\.collector\\.\\d+\\.time|sun\\.os\\.hrt\\.frequency)=(\\d+)");

    private static final String EVENTS = "gpufleet_projection_events_total";
    private static final String RESTORE = "gpufleet_projection_restore_milliseconds";

    /**
     * Measured values.
     *
     * @param events number of events
     * @param seconds from the first to the last, by the clock
     * @param cpuSeconds processor time of the whole process between them
     */
    public record Work(double events, double seconds, double cpuSeconds) {
        /** Events by the clock. */
        public double perSecond() {
            return events / seconds;
        }

        /** Events of one core. */
        public double perCpuSecond() {
            return events / cpuSeconds;
        }
    }

    /** How many events are applied at a time, by the clock and by the processor time of the process. */
    private record Reading(double applied, long nanos, Duration cpu) {
        private Work since(Reading first) {
            return new Work(
                    applied - first.applied,
                    (nanos - first.nanos) / 1e9,
                    cpu.minus(first.cpu).toNanos() / 1e9);
        }
    }

    private final FleetState.FleetProcess process;
    private final ProcessHandle handle;
    private final Semaphore never = new Semaphore(0);

    private ServiceUnderLoad(FleetState.FleetProcess process) {
        this.process = process;
        this.handle = process.identity().find().orElseThrow();
    }

    /** Starts the service on every core, with the memory of a large fleet. */
    public static ServiceUnderLoad start(ProcessLauncher launcher, PlannedProcess planned) {
        return start(launcher, planned, false, LARGE_MEBIBYTES);
    }

    /**
     * Starts the service.
     *
     * @param oneCore on one core, where the machine has a way to confine it
     * @param mebibytes memory limit of its container, of which the manifests of k8s give 60 % to the heap, and by which the
     *     virtual machine would choose its collector
     */
    public static ServiceUnderLoad start(
            ProcessLauncher launcher, PlannedProcess planned, boolean oneCore, int mebibytes) {
        return start(launcher, planned, launcher.command(planned), oneCore, mebibytes);
    }

    /** Starts a program by a command line of its own, of which memory, collector and compiler become those of a container. */
    static ServiceUnderLoad start(
            ProcessLauncher launcher, PlannedProcess planned, List<String> shipped, boolean oneCore, int mebibytes) {
        List<String> command = new ArrayList<>();
        if (oneCore) {
            command.addAll(List.of(TASKSET.toString(), "-c", "0"));
        }
        for (String argument : shipped) {
            if (argument.startsWith("-Xmx")) {
                command.addAll(List.of(
                        "-XX:MaxRAM=" + mebibytes + "m", "-XX:MaxRAMPercentage=60", "-XX:InitialRAMPercentage=10"));
            } else if (argument.equals(ProcessLauncher.SERIAL)) {
                command.add(oneCore || mebibytes < SERVER_MEBIBYTES ? argument : "-XX:+UseG1GC");
                // No cache is written, and nothing for one: that would be measured as well.
            } else if (!argument.startsWith("-Xms")
                    && !argument.startsWith("-XX:AOTCacheOutput")
                    && !argument.startsWith("-XX:DumpLoadedClassList")) {
                command.add(argument);
            }
            if (!oneCore && mebibytes >= SERVER_MEBIBYTES && argument.endsWith(ARGUMENTS)) {
                command.add(argument.replace(ARGUMENTS, "jvm-large.args"));
            }
        }
        return new ServiceUnderLoad(launcher.start(planned, command));
    }

    /** Whether this machine has a way to confine a service to one core. */
    public static boolean canConfine() {
        return Files.isExecutable(TASKSET);
    }

    /** Waits until so many events are applied, for as long as further ones are. */
    public Work work(double events) throws InterruptedException {
        return work(events, Duration.ZERO);
    }

    /** Waits until so many events are applied and no further one is; from the first event to the last. */
    public Work workOff(double least) throws InterruptedException {
        return work(least, REST);
    }

    private Work work(double events, Duration rest) throws InterruptedException {
        Reading first = reading();
        Reading last = first;
        while (System.nanoTime() - last.nanos() < TIMEOUT.toNanos() && handle.isAlive()) {
            Reading now = reading();
            if (now.applied() > last.applied()) {
                first = first.applied() == 0 ? now : first;
                last = now;
            }
            if (last.applied() >= events && now.nanos() - last.nanos() >= rest.toNanos()) {
                return last.since(first);
            }
            pause();
        }
        throw new IllegalStateException(process.name() + " ended, or applied no event for " + TIMEOUT.toMinutes()
                + " min after " + (long) last.applied() + " of " + (long) events + "; see " + process.log());
    }

    private Reading reading() throws InterruptedException {
        double applied = applied();
        return new Reading(applied, System.nanoTime(), cpu());
    }

    /** Waits until it has worked off what its inputs and its own work caused. */
    public void awaitRest() throws InterruptedException {
        double last = applied();
        long progressed = System.nanoTime();
        while (System.nanoTime() - progressed < REST.toNanos() && handle.isAlive()) {
            pause();
            double done = applied();
            if (done != last) {
                last = done;
                progressed = System.nanoTime();
            }
        }
    }

    private void pause() throws InterruptedException {
        var _ = never.tryAcquire(SCRAPE_INTERVAL.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Resident memory now. */
    public double residentMebibytes() {
        return Processes.residentBytes(handle.pid()).orElse(0) / 1048576.0;
    }

    /** Heap that is in use after a collection, by the histogram of its classes. */
    public double liveHeapMebibytes() throws InterruptedException {
        return jcmd("GC.class_histogram").stream()
                .map(TOTAL::matcher)
                .filter(Matcher::matches)
                .mapToDouble(total -> Double.parseDouble(total.group(1)) / 1048576)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException(JCMD + " shows no heap"));
    }

    /** Time since the start for which collections stopped it, in milliseconds. */
    public double collectionMillis() throws InterruptedException {
        Map<String, Double> counters = jcmd("PerfCounter.print").stream()
                .map(COUNTER::matcher)
                .filter(Matcher::matches)
                .collect(
                        Collectors.toMap(counter -> counter.group(1), counter -> Double.parseDouble(counter.group(2))));
        double ticks = counters.entrySet().stream()
                .filter(counter -> counter.getKey().startsWith("sun.gc.collector."))
                .mapToDouble(Map.Entry::getValue)
                .sum();
        return ticks * 1_000 / Objects.requireNonNull(counters.get("sun.os.hrt.frequency"));
    }

    private List<String> jcmd(String command) throws InterruptedException {
        try {
            Process asked = new ProcessBuilder(JCMD.toString(), Long.toString(handle.pid()), command)
                    .redirectErrorStream(true)
                    .start();
            List<String> lines = asked.inputReader().readAllLines();
            asked.waitFor();
            return lines;
        } catch (IOException failed) {
            throw new UncheckedIOException(JCMD + " does not run", failed);
        }
    }

    /** Most resident memory since the start. */
    public double peakResidentMebibytes() {
        return Processes.peakResidentBytes(handle.pid()).orElse(0) / 1048576.0;
    }

    /** The running process. */
    public FleetState.FleetProcess process() {
        return process;
    }

    /** Waits until it answers that it is ready, for as long as it computes. */
    public void awaitReady() {
        while (true) {
            Duration before = cpu();
            try {
                ReadinessProbe.await(process, TIMEOUT);
                return;
            } catch (IllegalStateException notReady) {
                if (!handle.isAlive() || cpu().minus(before).compareTo(BUSY) < 0) {
                    throw notReady;
                }
            }
        }
    }

    /** Ends it without a warning, as a lost machine would. */
    public void kill() throws InterruptedException {
        handle.destroyForcibly();
        Processes.awaitExit(handle, TIMEOUT);
    }

    /** Port of REST, probes and metrics. */
    int httpPort() {
        return Objects.requireNonNull(process.ports().get("http"));
    }

    /** Number of events applied; none while the HTTP server is not there yet. */
    public double applied() throws InterruptedException {
        try {
            return ServiceMetrics.scrape(process).value(EVENTS);
        } catch (IllegalStateException starting) {
            return 0;
        }
    }

    /** How long it took to read its states. */
    double restoreSeconds() throws InterruptedException {
        return ServiceMetrics.scrape(process).value(RESTORE) / 1000;
    }

    /** Processor time of the process so far. */
    public Duration cpu() {
        return handle.info().totalCpuDuration().orElse(Duration.ZERO);
    }

    @Override
    public void close() {
        Processes.terminate(List.of(handle), Duration.ofSeconds(20));
    }
}
