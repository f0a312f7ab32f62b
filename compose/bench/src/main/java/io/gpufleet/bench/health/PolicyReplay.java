package io.gpufleet.bench.health;

import io.gpufleet.bench.harness.Measurements;
import io.gpufleet.bench.projection.FleetEvents;
import io.gpufleet.cli.fleet.FleetState;
import io.gpufleet.cli.fleet.PlannedProcess;
import io.gpufleet.cli.fleet.ProcessLauncher;
import io.gpufleet.cli.fleet.Processes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * {@code policy diff} over what a fleet tells in a week: each daemon announces its devices and lists its open faults every 6 h, and
 * a GPU of every 28th node fails and is repaired once, about 5 of 1,000 nodes a day.
 * Two packs of which each decides everything, with budgets, so that all of it is worked off.
 */
final class PolicyReplay {
    private static final int SNAPSHOTS_OF_A_WEEK = 7 * 24 / 6;
    private static final int NODES_OF_A_FAILURE = 28;
    private static final Duration TIMEOUT = Duration.ofMinutes(20);
    private static final Duration SAMPLE = Duration.ofMillis(200);
    private static final String PROGRAM = "io.gpufleet.health.PolicyMain";
    private static final Pattern RESULT = Pattern.compile("(\\d+) signals of \\d+ nodes since");

    private final ProcessLauncher launcher;
    private final PlannedProcess health;
    private final int nodes;

    /** Runs with the class path and the Kafka of a planned health-service, for so many nodes. */
    PolicyReplay(ProcessLauncher launcher, PlannedProcess health, int nodes) {
        this.launcher = launcher;
        this.health = health;
        this.nodes = nodes;
    }

    /** Writes the week and measures its replay: seconds, signals a second, memory. */
    void measure(FleetEvents events, Measurements measurements) throws InterruptedException {
        for (int snapshot = 0; snapshot < SNAPSHOTS_OF_A_WEEK; snapshot++) {
            events.snapshotAll();
            for (int node = snapshot; node < nodes; node += SNAPSHOTS_OF_A_WEEK * NODES_OF_A_FAILURE) {
                events.fatal(node);
                events.repaired(node);
            }
        }
        var planned = new PlannedProcess("policy-diff", health.program(), health.environment(), health.ports());
        long before = System.nanoTime();
        FleetState.FleetProcess replay = launcher.start(planned, command());
        double peak = peakMebibytesUntilExit(replay.identity().find().orElseThrow());
        double seconds = (System.nanoTime() - before) / 1e9;
        measurements.add("health.replay-of-7d", seconds, "s");
        measurements.add("health.replay", signals(Path.of(replay.log())) / seconds, "1/s");
        measurements.add("health.replay.rss", peak, "MiB");
    }

    private static double peakMebibytesUntilExit(ProcessHandle replay) {
        long deadline = System.nanoTime() + TIMEOUT.toNanos();
        long peak = 0;
        while (!Processes.awaitExit(replay, SAMPLE)) {
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException("policy diff did not end within " + TIMEOUT.toMinutes() + " min");
            }
            peak = Math.max(peak, Processes.peakResidentBytes(replay.pid()).orElse(0));
        }
        return peak / 1048576.0;
    }

    private List<String> command() {
        var command = new ArrayList<String>();
        for (String argument : launcher.command(health)) {
            if (argument.equals(health.program().mainClass())) {
                command.add(PROGRAM);
            } else if (!argument.startsWith("-Xm") && !argument.startsWith("-XX:AOT")) {
                command.add(argument);
            }
        }
        command.addAll(List.of("diff", "nvidia", "conservative", "--from", "7d", "--pools", "standard"));
        return command;
    }

    private static double signals(Path log) {
        try {
            Matcher result = RESULT.matcher(Files.readString(log));
            if (result.find()) {
                return Double.parseDouble(result.group(1));
            }
            throw new IllegalStateException("policy diff did not end with a number of signals; see " + log);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
