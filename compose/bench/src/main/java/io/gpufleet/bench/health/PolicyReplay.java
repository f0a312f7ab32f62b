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
 * {@code policy diff} over what a fleet tells in a week: each daemon announces its devices and lists its open faults every 6 h.
 * Two packs of which each decides everything, with budgets, so that all of it is worked off.
 */
final class PolicyReplay {
    private static final int SNAPSHOTS_OF_A_WEEK = 7 * 24 / 6;
    private static final Duration TIMEOUT = Duration.ofMinutes(20);
    private static final String PROGRAM = "io.gpufleet.health.PolicyMain";
    private static final Pattern RESULT = Pattern.compile("(\\d+) signals of \\d+ nodes since");

    private final ProcessLauncher launcher;
    private final PlannedProcess health;

    /** Runs with the class path and the Kafka of a planned health-service. */
    PolicyReplay(ProcessLauncher launcher, PlannedProcess health) {
        this.launcher = launcher;
        this.health = health;
    }

    /** Writes the week and measures its replay: seconds, and signals a second. */
    void measure(FleetEvents events, Measurements measurements) throws InterruptedException {
        for (int snapshot = 0; snapshot < SNAPSHOTS_OF_A_WEEK; snapshot++) {
            events.snapshotAll();
        }
        var planned = new PlannedProcess("policy-diff", health.program(), health.environment(), health.ports());
        long before = System.nanoTime();
        FleetState.FleetProcess replay = launcher.start(planned, command());
        Processes.awaitExit(replay.identity().find().orElseThrow(), TIMEOUT);
        double seconds = (System.nanoTime() - before) / 1e9;
        measurements.add("health.replay-of-7d", seconds, "s");
        measurements.add("health.replay", signals(Path.of(replay.log())) / seconds, "1/s");
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
