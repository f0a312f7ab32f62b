package io.gpufleet.runtime.consistency;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Handle of a replica in a process of its own, which prints what happens. */
public final class ReplicaProcess implements AutoCloseable {
    private final List<String> output = new CopyOnWriteArrayList<>();
    private final Process process;

    private ReplicaProcess(Process process) {
        this.process = process;
        Thread.ofPlatform().daemon().start(this::readOutput);
    }

    /** Starts a program of the class path. */
    public static ReplicaProcess start(Class<?> main, String... arguments) throws IOException {
        var command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "--sun-misc-unsafe-memory-access=allow",
                main.getName()));
        command.addAll(List.of(arguments));
        var builder = new ProcessBuilder(command);
        builder.environment().put("CLASSPATH", System.getProperty("java.class.path"));
        return new ReplicaProcess(
                builder.redirectError(ProcessBuilder.Redirect.INHERIT).start());
    }

    private void readOutput() {
        try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
            lines.lines().forEach(output::add);
        } catch (IOException | UncheckedIOException ended) {
            output.add("ENDED");
        }
    }

    /** Lines that it printed so far. */
    public List<String> output() {
        return output;
    }

    /** Writes a line to its standard input. */
    public void writeLine(String line) throws IOException {
        var input = process.outputWriter(StandardCharsets.UTF_8);
        input.write(line + "\n");
        input.flush();
    }

    /** Sends a signal by name: KILL, STOP, CONT. */
    public void signal(String name) throws IOException, InterruptedException {
        new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                .inheritIO()
                .start()
                .waitFor();
    }

    @Override
    public void close() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }
}
