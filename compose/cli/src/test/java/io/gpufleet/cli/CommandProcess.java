package io.gpufleet.cli;

import io.gpufleet.testbed.testkit.CommandOutput;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/** The command line as a process, with the flags of the script {@code ./gpufleet} that decide what is printed. */
public final class CommandProcess {
    /** Of its own for each process, whose output it waits for. */
    private static final Executor THREADS = task -> Thread.ofVirtual().start(task);

    private CommandProcess() {}

    /** Runs it to its end, with no setting of gpufleet but these; answers all that it prints. */
    public static CommandOutput run(Map<String, String> settings, List<String> arguments)
            throws IOException, InterruptedException {
        Process process = start(settings, arguments);
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new CommandOutput(process.waitFor(), said);
    }

    /** Runs it until it prints a line with this text, and ends it; answers the line. */
    public static String lineOf(List<String> arguments, String text, Duration timeout) throws IOException {
        Process process = start(Map.of(), arguments);
        try {
            return CompletableFuture.supplyAsync(
                            () -> process.inputReader()
                                    .lines()
                                    .filter(line -> line.contains(text))
                                    .findFirst()
                                    .orElseThrow(() -> new AssertionError(arguments + " ended without " + text)),
                            THREADS)
                    .orTimeout(timeout.toSeconds(), TimeUnit.SECONDS)
                    .join();
        } finally {
            process.destroyForcibly();
        }
    }

    private static Process start(Map<String, String> settings, List<String> arguments) throws IOException {
        var command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-DGPUFLEET_LOG_LEVEL=ERROR",
                "-cp",
                System.getProperty("java.class.path"),
                "io.gpufleet.cli.GpufleetMain"));
        command.addAll(arguments);
        var builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().keySet().removeIf(name -> name.startsWith("GPUFLEET_"));
        builder.environment().putAll(settings);
        return builder.start();
    }
}
