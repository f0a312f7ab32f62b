package io.gpufleet.bench.daemon;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

/** Changes beside faults that the driver reports: a late kubelet, GPUs that come and go, failing waits. */
record DeviceChangeRun(MeasuredPlugin plugin, Path home, Path sockets, LatencySamples samples, Consumer<String> log) {
    private static final int GPUS = 8;
    private static final int XID = 79;
    private static final int FAILED_WAITS = 20;
    private static final Duration SETTLE = Duration.ofSeconds(5);
    private static final Duration LONGEST = Duration.ofSeconds(30);
    private static final Duration LOOK = Duration.ofMillis(5);

    /** Measures each change in a run of its own; what the plugin does not notice in 30 s is logged and not measured. */
    void measure() throws InterruptedException {
        measureLateKubelet();
        measure("fault-after-20-failed-waits", this::failWaits);
        measure("lost-gpu-to-list", run -> {
            run.nvml().lose(GPUS - 1);
            return System.nanoTime();
        });
        measure("hot-add-to-list", run -> {
            run.nvml().addGpu();
            return System.nanoTime();
        });
    }

    private interface Change {
        /** Makes the change; returns its time. */
        long make(PluginMeasurementRun.RunningPlugin run) throws InterruptedException;
    }

    private PluginMeasurementRun starts() {
        return new PluginMeasurementRun(plugin, home, sockets, samples, log);
    }

    private void measureLateKubelet() throws InterruptedException {
        try (var run = starts().startWithoutKubelet(GPUS)) {
            run.running().runFor(SETTLE);
            long listening = run.kubelet().restart();
            var list = run.kubelet().await("the list after a kubelet came", seen -> seen.healthy() == GPUS, LONGEST);
            add("late-kubelet-to-list", list.nanos() - listening);
        }
    }

    private void measure(String name, Change change) throws InterruptedException {
        try (var run = starts().start(GPUS)) {
            run.running().runFor(SETTLE);
            long at = change.make(run);
            var list = run.kubelet().await(name, seen -> seen.healthy() != GPUS, LONGEST);
            add(name, list.nanos() - at);
        } catch (IllegalStateException notSeen) {
            log.accept(plugin.name() + ": " + notSeen.getMessage());
        }
    }

    /** Each wait fails, and the one after the twentieth gets an event. */
    private long failWaits(PluginMeasurementRun.RunningPlugin run) throws InterruptedException {
        run.nvml().failWaits(true);
        long enough = run.nvml().waits() + FAILED_WAITS + 1;
        while (run.nvml().waits() < enough) {
            run.running().runFor(LOOK);
        }
        run.nvml().failWaits(false);
        long at = System.nanoTime();
        run.nvml().xid(0, XID);
        return at;
    }

    private void add(String name, long nanos) {
        samples.addDistribution(plugin.name(), name, "ms", List.of(nanos / 1e6));
    }
}
