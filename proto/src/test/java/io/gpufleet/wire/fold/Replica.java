package io.gpufleet.wire.fold;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.NullMarked;

/** The handle of a {@link ReplicaMain} process. */
@NullMarked
final class Replica implements AutoCloseable {
    final List<String> said = new CopyOnWriteArrayList<>();
    private final Process process;

    private Replica(Process process) {
        this.process = process;
        Thread.ofPlatform().daemon().start(this::listen);
    }

    static Replica start(Bus bus, String instance) throws IOException {
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
        return new Replica(
                builder.redirectError(ProcessBuilder.Redirect.INHERIT).start());
    }

    private void listen() {
        try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
            lines.lines().forEach(said::add);
        } catch (IOException | java.io.UncheckedIOException ended) {
            said.add("ENDED");
        }
    }

    void tell(String order) throws IOException {
        var orders = process.outputWriter(StandardCharsets.UTF_8);
        orders.write(order + "\n");
        orders.flush();
    }

    /** SIGKILL, SIGSTOP, SIGCONT by name. */
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
