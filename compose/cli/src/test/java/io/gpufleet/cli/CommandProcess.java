package io.gpufleet.cli;

import io.gpufleet.testbed.testkit.CommandOutput;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The command line as a process, with the flags of the script {@code ./gpufleet} that decide what is printed. */
public final class CommandProcess {
    private CommandProcess() {}

    /** Runs it to its end, with no setting of gpufleet but these; answers all that it prints. */
    public static CommandOutput run(Map<String, String> settings, List<String> arguments)
            throws IOException, InterruptedException {
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
        Process process = builder.start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new CommandOutput(process.waitFor(), said);
    }
}
