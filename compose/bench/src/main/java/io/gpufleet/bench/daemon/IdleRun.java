package io.gpufleet.bench.daemon;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Every plugin started and left alone, at once: each is measured by the time and memory of its own process. */
record IdleRun(List<MeasuredPlugin> plugins, Path home, Path sockets, LatencySamples samples) {
    private static final int GPUS = 8;
    /** Two minutes are over what is left of a start: compilation, first samples, the outbox of a broker that is away. */
    private static final Duration SETTLE = Duration.ofMinutes(2);

    private static final Duration IDLE = Duration.ofMinutes(1);
    private static final Duration LOOK = Duration.ofMillis(50);

    /** Measures minute 3. */
    void measure(Consumer<String> log) throws InterruptedException {
        var running = new ArrayList<PluginMeasurementRun.RunningPlugin>();
        try {
            for (MeasuredPlugin plugin : plugins) {
                log.accept("idle: start of " + plugin.name());
                Path own = sockets.resolve(Integer.toString(running.size()));
                running.add(new PluginMeasurementRun(plugin, home, own, samples, log).start(GPUS));
            }
            log.accept("idle: minute 3 is measured");
            running.getFirst().running().runFor(SETTLE);
            double[] before = running.stream()
                    .mapToDouble(run -> run.running().processorSeconds())
                    .toArray();
            int[] threads = mostThreads(running);
            for (int i = 0; i < before.length; i++) {
                add(plugins.get(i).name(), running.get(i).running(), before[i], threads[i]);
            }
        } finally {
            running.forEach(PluginMeasurementRun.RunningPlugin::close);
        }
    }

    /** The most threads of each during the minute: some live for a moment only. */
    private static int[] mostThreads(List<PluginMeasurementRun.RunningPlugin> running) throws InterruptedException {
        int[] most = new int[running.size()];
        long end = System.nanoTime() + IDLE.toNanos();
        while (System.nanoTime() - end < 0) {
            for (int i = 0; i < most.length; i++) {
                most[i] = Math.max(most[i], running.get(i).running().threads());
            }
            running.getFirst().running().runFor(LOOK);
        }
        return most;
    }

    private void add(String plugin, PluginProcess process, double secondsBefore, int threads) {
        double used = process.processorSeconds() - secondsBefore;
        samples.addValue(plugin, "idle-cpu", "% of a core", used / IDLE.toSeconds() * 100);
        samples.addValue(plugin, "idle-rss", "MiB", process.residentMebibytes());
        samples.addValue(plugin, "idle-threads", "1", threads);
    }
}
