package io.gpufleet.bench.daemon;

import io.gpufleet.bench.harness.Benchmark;
import io.gpufleet.bench.harness.Measurements;
import io.gpufleet.cli.fleet.DirectoryTrees;
import io.gpufleet.cli.fleet.PortAllocator;
import io.gpufleet.cli.fleet.PortClaims;
import io.gpufleet.cli.fleet.StateDirectory;
import io.gpufleet.cli.pack.FakeNvmlLibrary;
import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Benchmark of the node-daemon on the kubelet's interfaces: calls, faults, restarts, footprint; and of any other device
 * plugin on the same fake NVML library, alternating.
 */
public final class DaemonBenchmark implements Benchmark {
    private final Path tree;
    private final Path daemon;
    private final String plugin;
    private final String flags;
    private final int starts;
    private final int rounds;

    /**
     * Benchmark of a source tree.
     *
     * @param daemon start script of our daemon, which takes JVM flags from JAVA_FLAGS
     * @param plugin command of another plugin, or empty
     * @param flags further flags for our JVM, or empty
     * @param starts number of starts of each plugin, with faults
     * @param rounds number of load runs of each plugin
     */
    public DaemonBenchmark(Path tree, Path daemon, String plugin, String flags, int starts, int rounds) {
        if (starts < 1 || rounds < 1) {
            throw new ConfigurationException("--starts " + starts + " --rounds " + rounds + ": each takes 1 or more");
        }
        this.tree = tree;
        this.daemon = daemon;
        this.plugin = plugin;
        this.flags = flags;
        this.starts = starts;
        this.rounds = rounds;
    }

    @Override
    public String name() {
        return "daemon";
    }

    @Override
    public String description() {
        return "node-daemon and another device plugin, measured by a kubelet";
    }

    @Override
    public String table(Measurements measurements) {
        return ComparisonTable.of(measurements.all()).render();
    }

    @Override
    public void run(Measurements measurements, Consumer<String> log) throws InterruptedException {
        var directory = new StateDirectory(tree.resolve(".gpufleet").resolve("bench"));
        Path home = directory.root().resolve("daemon");
        // Sockets have short paths.
        Path sockets = Path.of("/tmp/gpufleet-bench-" + ProcessHandle.current().pid());
        PluginProcesses.deleteAtEnd(sockets);
        var samples = new LatencySamples();
        try (var claims = new PortClaims();
                var broker = BrokerProcess.start(directory
                        .root()
                        .resolve("broker-" + ProcessHandle.current().pid()))) {
            TopicAdmin.apply(broker.bootstrap(), new Topics(MeasuredPlugin.GpufleetDaemon.TOPIC_PREFIX));
            FakeNvmlLibrary.build(tree, home.resolve("built"));
            var ports = new PortAllocator(claims::claim, log);
            var ours = new MeasuredPlugin.GpufleetDaemon(
                    "gpufleet",
                    List.of(daemon.toString()),
                    flags,
                    broker.bootstrap(),
                    ports.allocate("daemon", 19_499));
            var candidates = new ArrayList<MeasuredPlugin>(List.of(ours));
            Optional.of(plugin)
                    .filter(line -> !line.isEmpty())
                    .ifPresent(line -> candidates.add(new MeasuredPlugin.OtherPlugin(line)));
            var all = new ArrayList<>(candidates);
            // A broker on the same cores takes them from the daemon's calls.
            all.add(ours.withoutBroker(ports.allocate("daemon without broker", 19_500)));
            new ClientBaseline(sockets).measure(samples);
            for (int round = 0; round < starts; round++) {
                for (MeasuredPlugin candidate : alternate(candidates, round)) {
                    log.accept("start " + (round + 1) + " of " + starts + ": " + candidate.name());
                    new PluginMeasurementRun(candidate, home, sockets, samples, log).measureStarts();
                }
            }
            for (int round = 0; round < rounds; round++) {
                for (MeasuredPlugin candidate : alternate(all, round)) {
                    log.accept("load " + (round + 1) + " of " + rounds + ": " + candidate.name());
                    new PluginMeasurementRun(candidate, home, sockets, samples, log).measureLoad();
                }
            }
            for (int round = 0; round < rounds; round++) {
                log.accept("changes " + (round + 1) + " of " + rounds + ": " + ours.name());
                new DeviceChangeRun(ours, home, sockets, samples, log).measure();
            }
            new IdleRun(all, home, sockets, samples).measure(log);
        } finally {
            DirectoryTrees.delete(sockets);
            samples.addTo(measurements);
        }
    }

    /** Alternates the first plugin, so that other load of the machine affects both. */
    private static List<MeasuredPlugin> alternate(List<MeasuredPlugin> candidates, int round) {
        return round % 2 == 0 ? candidates : candidates.reversed();
    }
}
