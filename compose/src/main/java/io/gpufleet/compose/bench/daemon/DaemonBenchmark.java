package io.gpufleet.compose.bench.daemon;

import io.gpufleet.compose.bench.Benchmark;
import io.gpufleet.compose.bench.Figures;
import io.gpufleet.compose.broker.BrokerProcess;
import io.gpufleet.compose.fleet.Ports;
import io.gpufleet.compose.fleet.StateDirectory;
import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * The node-daemon as the kubelet meets it: answers, faults, restarts, footprint; beside it any other device plugin, on
 * the same stand-in for NVIDIA's library, in turns.
 */
public final class DaemonBenchmark implements Benchmark {
    static final String PREFIX = "bench.";

    private final Path tree;
    private final Path daemon;
    private final String plugin;
    private final String flags;
    private final int starts;
    private final int rounds;

    /**
     * Of a source tree.
     *
     * @param daemon starts our daemon, with the flags for its virtual machine in JAVA_FLAGS
     * @param plugin the command of another plugin, or an empty text
     * @param flags further flags for our virtual machine, or an empty text
     * @param starts how often each is started and broken
     * @param rounds how often each is put under load
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
    public String about() {
        return "the node-daemon as the kubelet meets it, and another device plugin beside it";
    }

    @Override
    public String table(Figures figures) {
        return SideBySide.of(figures.all()).render();
    }

    @Override
    public Figures run(Consumer<String> says) throws InterruptedException {
        var directory = new StateDirectory(tree.resolve(".gpufleet").resolve("bench"));
        Path home = directory.root().resolve("daemon");
        // Sockets have short paths.
        Path sockets = Path.of("/tmp/gpufleet-bench-" + ProcessHandle.current().pid());
        var samples = new Samples();
        try (var broker = BrokerProcess.start(
                directory.root().resolve("broker-" + ProcessHandle.current().pid()))) {
            TopicAdmin.apply(broker.bootstrap(), new Topics(PREFIX));
            Hardware.build(tree, home.resolve("built"));
            var ours = new Candidate.Ours(
                    List.of(daemon.toString()),
                    flags,
                    broker.bootstrap(),
                    new Ports(Ports::isFree, says).take("daemon", 19_499));
            var candidates = new ArrayList<Candidate>(List.of(ours));
            Optional.of(plugin)
                    .filter(line -> !line.isEmpty())
                    .ifPresent(line -> candidates.add(new Candidate.Foreign(line)));
            new Floor(sockets).measure(samples);
            for (int round = 0; round < starts; round++) {
                for (Candidate candidate : inTurn(candidates, round)) {
                    says.accept("start " + (round + 1) + " of " + starts + ": " + candidate.name());
                    new Trial(candidate, home, sockets, samples, says).starts();
                }
            }
            for (int round = 0; round < rounds; round++) {
                for (Candidate candidate : inTurn(candidates, round)) {
                    says.accept("load " + (round + 1) + " of " + rounds + ": " + candidate.name());
                    new Trial(candidate, home, sockets, samples, says).load();
                }
            }
        } finally {
            remove(sockets);
        }
        return samples.figures();
    }

    /** Who goes first changes, so that what the machine does meanwhile strikes both alike. */
    private static List<Candidate> inTurn(List<Candidate> candidates, int round) {
        return round % 2 == 0 ? candidates : candidates.reversed();
    }

    static void remove(Path directory) {
        if (!Files.exists(directory)) {
            return;
        }
        try (Stream<Path> all = Files.walk(directory)) {
            for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(each);
            }
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
