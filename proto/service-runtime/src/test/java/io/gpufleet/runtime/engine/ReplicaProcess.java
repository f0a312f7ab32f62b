package io.gpufleet.runtime.engine;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.NullMarked;

/** Handle of a {@link ReplicaMain} process. */
@NullMarked
final class ReplicaProcess implements AutoCloseable {
    final List<String> output = new CopyOnWriteArrayList<>();
    private final Process process;

    private ReplicaProcess(Process process) {
        this.process = process;
        Thread.ofPlatform().daemon().start(this::readOutput);
    }

    static ReplicaProcess start(TestBus bus, String instance) throws IOException {
        var builder = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                ReplicaMain.class.getName(),
                bus.broker.bootstrap(),
                bus.topics.prefix(),
                instance);
        builder.environment().put("CLASSPATH", System.getProperty("java.class.path"));
        return new ReplicaProcess(
                builder.redirectError(ProcessBuilder.Redirect.INHERIT).start());
    }

    private void readOutput() {
        try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
            lines.lines().forEach(output::add);
        } catch (IOException | java.io.UncheckedIOException ended) {
            output.add("ENDED");
        }
    }

    void writeLine(String line) throws IOException {
        var input = process.outputWriter(StandardCharsets.UTF_8);
        input.write(line + "\n");
        input.flush();
    }

    /** Sends a signal by name: KILL, STOP, CONT. */
    void signal(String name) throws IOException, InterruptedException {
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
