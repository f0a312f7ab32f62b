package io.gpufleet.compose.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** One program of the house as a process, started from its module's build output. */
final class ProgramProcess implements AutoCloseable {
    private final List<String> command;
    private final Map<String, String> environment;
    private final Path log;
    private Process process;

    private ProgramProcess(List<String> command, Map<String, String> environment, Path log) throws IOException {
        this.command = command;
        this.environment = environment;
        this.log = log;
        this.process = launch();
    }

    /** Starts {@code mainClass} of a module; what it prints goes to a file under {@code directory}. */
    static ProgramProcess start(String module, String mainClass, Map<String, String> environment, Path directory)
            throws IOException {
        Path built = repository().resolve(module).resolve("target");
        var command = List.of(
                ProcessHandle.current().info().command().orElse("java"),
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                built.resolve("classes") + ":" + built.resolve("lib") + "/*",
                mainClass);
        String name = mainClass.substring(mainClass.lastIndexOf('.') + 1);
        return new ProgramProcess(command, environment, directory.resolve(name + ".log"));
    }

    /** The top of the checkout that is tested. */
    static Path repository() {
        Path here = Path.of("").toAbsolutePath();
        return Files.exists(here.resolve("k8s"))
                ? here
                : here.resolveSibling("").toAbsolutePath();
    }

    /** SIGKILL, and a new process with the same command and environment. */
    void killAndRestart() throws Exception {
        process.destroyForcibly().waitFor();
        process = launch();
    }

    /** What the program printed so far. */
    String printed() throws IOException {
        return Files.exists(log) ? Files.readString(log) : "";
    }

    private Process launch() throws IOException {
        var builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
        builder.environment().keySet().removeIf(name -> name.startsWith("GPUFLEET_"));
        builder.environment().putAll(environment);
        return builder.start();
    }

    @Override
    public void close() throws Exception {
        process.destroy();
        if (!process.waitFor(Duration.ofSeconds(15).toMillis(), TimeUnit.MILLISECONDS)) {
            process.destroyForcibly().waitFor();
        }
    }
}
