package io.gpufleet.bench.daemon;

import io.gpufleet.cli.fleet.DirectoryTrees;
import io.gpufleet.cli.pack.FakeNvmlLibrary;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** One run of one plugin: started with fresh state, measured, stopped. */
record PluginMeasurementRun(
        MeasuredPlugin plugin, Path home, Path sockets, LatencySamples samples, Consumer<String> log) {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final String FAULT_NOT_SEEN = "fault-not-seen";
    private static final Duration FAULT_TIMEOUT = Duration.ofSeconds(5);
    /** A GPU that fell off the bus: withdrawn by every plugin. */
    private static final int XID = 79;

    private static final int GPUS = 8;
    private static final int MANY_GPUS = 16;
    private static final Duration PAUSE = Duration.ofMillis(50);
    private static final Duration SETTLE = Duration.ofSeconds(5);
    private static final int COLD_CALLS = 200;
    private static final int WARM_UP = 5_000;
    private static final int CALLS = 10_000;
    private static final int CONCURRENT_CALLERS = 8;
    private static final int PREFERRED_CALLS = 1_000;
    private static final int RESTARTS = 10;
    private static final int SCRAPES = 200;

    /** The processes of a run. */
    record RunningPlugin(
            BenchKubelet kubelet, FakeNvmlLibrary nvml, PluginProcess running, BenchKubelet.ReceivedDevices received)
            implements AutoCloseable {
        @Override
        public void close() {
            running.close();
            nvml.close();
            kubelet.close();
        }
    }

    /** Starts the plugin without state of an earlier run and waits for its first list of healthy GPUs. */
    RunningPlugin start(int gpus) throws InterruptedException {
        RunningPlugin started = start(new BenchKubelet(sockets), gpus);
        try {
            var received = started.kubelet().await("the first list", list -> list.healthy() == gpus, TIMEOUT);
            return new RunningPlugin(started.kubelet(), started.nvml(), started.running(), received);
        } catch (IllegalStateException timedOut) {
            started.close();
            throw new IllegalStateException(
                    timedOut.getMessage() + "; its output is in " + home.resolve(plugin.name() + ".log"), timedOut);
        }
    }

    /** Starts the plugin while no kubelet listens. */
    RunningPlugin startWithoutKubelet(int gpus) {
        var kubelet = new BenchKubelet(sockets);
        kubelet.close();
        return start(kubelet, gpus);
    }

    private RunningPlugin start(BenchKubelet kubelet, int gpus) {
        Path state = home.resolve(plugin.name());
        DirectoryTrees.delete(state);
        var nvml = FakeNvmlLibrary.start(home.resolve("built"), state.resolve("driver"), gpus);
        var running = new PluginProcess(
                plugin, plugin.environment(nvml, kubelet, state), home.resolve(plugin.name() + ".log"));
        return new RunningPlugin(
                kubelet, nvml, running, new BenchKubelet.ReceivedDevices(BenchKubelet.ReceivedDevices.EMPTY, 0));
    }

    /** Measures start, a fault of each GPU, and stop. */
    void measureStarts() throws InterruptedException {
        try (RunningPlugin run = start(GPUS)) {
            addMillis(
                    "start-to-registered",
                    "ms",
                    run.kubelet().registeredNanos() - run.running().startedNanos());
            addMillis(
                    "start-to-list",
                    "ms",
                    run.received().nanos() - run.running().startedNanos());
            run.running().runFor(Duration.ofSeconds(1));
            if (!samples.has(plugin.name(), FAULT_NOT_SEEN)) {
                failAllGpus(run);
            }
            samples.addDistribution(
                    plugin.name(),
                    "sigterm-to-exit",
                    "ms",
                    List.of(run.running().terminate(TIMEOUT)));
        }
    }

    private void failAllGpus(RunningPlugin run) throws InterruptedException {
        var faults = new ArrayList<Double>();
        try {
            for (int gpu = 0; gpu < GPUS; gpu++) {
                int left = GPUS - gpu - 1;
                run.nvml().xid(gpu, XID);
                var received = run.kubelet().await("a withdrawn GPU", list -> list.healthy() == left, FAULT_TIMEOUT);
                faults.add((received.nanos() - run.nvml().deliveredNanos()) / 1e6);
                run.running().runFor(PAUSE);
            }
            samples.addDistribution(plugin.name(), "first-fault-to-list", "ms", faults.subList(0, 1));
            samples.addDistribution(plugin.name(), "fault-to-list", "ms", faults);
        } catch (IllegalStateException notSeen) {
            samples.addValue(plugin.name(), FAULT_NOT_SEEN, "1", 1);
            log.accept(plugin.name() + " did not see XID " + XID + ": " + notSeen.getMessage());
        }
    }

    /** Measures the idle plugin, calls, and kubelet restarts. */
    void measureLoad() throws InterruptedException {
        try (RunningPlugin run = start(GPUS)) {
            run.running().runFor(SETTLE);
            measureCalls(run, PluginRequests.of(run.kubelet(), run.received()));
            measureScrapes();
            samples.addValue(
                    plugin.name(), "rss-after-load", "MiB", run.running().residentMebibytes());
            for (int i = 0; i < RESTARTS; i++) {
                long listening = run.kubelet().restart();
                var received = run.kubelet().await("the list after a restart", list -> list.healthy() == GPUS, TIMEOUT);
                samples.addDistribution(
                        plugin.name(), "kubelet-restart-to-list", "ms", List.of((received.nanos() - listening) / 1e6));
                run.running().runFor(PAUSE.multipliedBy(10));
            }
            run.running().terminate(TIMEOUT);
        }
        try (RunningPlugin run = start(MANY_GPUS)) {
            run.running().runFor(SETTLE);
            measurePreferred(run, "prefer-8-of-16", PluginRequests.of(run.kubelet(), run.received()));
            run.running().terminate(TIMEOUT);
        }
    }

    private void measureCalls(RunningPlugin run, PluginRequests questions) throws InterruptedException {
        samples.addDistribution(
                plugin.name(),
                "allocate-cold.1-caller",
                "us",
                questions.allocate().run(1, COLD_CALLS));
        measure(run, "null-rpc.1-caller", questions.getOptions(), 1);
        measure(run, "allocate.1-caller", questions.allocate(), 1);
        measure(run, "null-rpc.8-callers", questions.getOptions(), CONCURRENT_CALLERS);
        measure(run, "allocate.8-callers", questions.allocate(), CONCURRENT_CALLERS);
        measurePreferred(run, "prefer-4-of-8", questions);
    }

    private void measure(RunningPlugin run, String name, LoadGenerator load, int callers) throws InterruptedException {
        load.run(callers, WARM_UP);
        // What the daemon publishes of the warm-up is not done at its end.
        run.running().settle();
        double before = run.running().processorSeconds();
        samples.addDistribution(plugin.name(), name, "us", load.run(callers, CALLS));
        double used = run.running().processorSeconds() - before;
        samples.addValue(plugin.name(), name + ".cpu-per-call", "us", used * 1e6 / CALLS);
    }

    private void measurePreferred(RunningPlugin run, String name, PluginRequests questions)
            throws InterruptedException {
        questions.preferredAllocation().run(1, PREFERRED_CALLS);
        run.running().settle();
        samples.addDistribution(
                plugin.name(), name, "us", questions.preferredAllocation().run(1, PREFERRED_CALLS));
    }

    private void measureScrapes() {
        if (plugin instanceof MeasuredPlugin.GpufleetDaemon ours) {
            URI page = URI.create("http://127.0.0.1:" + ours.httpPort() + "/metrics");
            var sample = new ArrayList<Double>();
            for (int i = 0; i < SCRAPES; i++) {
                long before = System.nanoTime();
                try (var body = page.toURL().openStream()) {
                    body.readAllBytes();
                } catch (IOException failed) {
                    throw new UncheckedIOException(failed);
                }
                sample.add((System.nanoTime() - before) / 1e6);
            }
            samples.addDistribution(plugin.name(), "metrics-scrape", "ms", sample);
        }
    }

    private void addMillis(String name, String unit, long nanos) {
        samples.addDistribution(plugin.name(), name, unit, List.of(nanos / 1e6));
    }
}
