package io.gpufleet.bench.daemon;

import io.gpufleet.cli.fleet.Processes;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The process of a plugin, with its CPU time, memory and threads; it ends with the benchmark. */
final class PluginProcess implements AutoCloseable {
    /** Clock ticks per second of CPU times in /proc; 100 on every Linux that Java runs on. */
    private static final double TICKS_A_SECOND = 100;

    private static final Duration LOOK = Duration.ofMillis(200);
    private static final int MOST_LOOKS = 25;
    /** A tenth of a core during a look: two ticks. */
    private static final double IDLE_SECONDS = 0.021;

    private final Process process;
    private final long startedNanos;

    /** Starts the plugin; its output is appended to a file. */
    PluginProcess(MeasuredPlugin candidate, Map<String, String> settings, Path log) {
        try {
            Files.createDirectories(log.getParent());
            var builder = new ProcessBuilder(candidate.command())
                    .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
            builder.environment().keySet().removeIf(key -> key.startsWith("GPUFLEET_"));
            builder.environment().putAll(settings);
            this.startedNanos = System.nanoTime();
            this.process = PluginProcesses.start(builder);
        } catch (IOException failed) {
            throw new UncheckedIOException(candidate.name() + " cannot be started", failed);
        }
    }

    long pid() {
        return process.pid();
    }

    long startedNanos() {
        return startedNanos;
    }

    /** Waits while the process runs; its exit is an error. */
    void runFor(Duration time) throws InterruptedException {
        if (process.waitFor(time.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new IllegalStateException("the plugin exited with status " + process.exitValue());
        }
    }

    /** Waits until the process works little, at most 5 s. */
    void settle() throws InterruptedException {
        double before = processorSeconds();
        for (int look = 0; look < MOST_LOOKS; look++) {
            runFor(LOOK);
            double now = processorSeconds();
            if (now - before <= IDLE_SECONDS) {
                return;
            }
            before = now;
        }
    }

    /** Resident memory, MiB. */
    double residentMebibytes() {
        return Processes.residentBytes(pid()).orElse(0) / 1048576.0;
    }

    /** Number of threads. */
    int threads() {
        try (var tasks = Files.list(proc("task"))) {
            return (int) tasks.count();
        } catch (IOException gone) {
            throw new UncheckedIOException(gone);
        }
    }

    /** CPU time so far, in seconds. */
    double processorSeconds() {
        try {
            String stat = Files.readString(proc("stat"));
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
            return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) / TICKS_A_SECOND;
        } catch (IOException gone) {
            throw new UncheckedIOException(gone);
        }
    }

    private Path proc(String file) {
        return Path.of("/proc", Long.toString(process.pid()), file);
    }

    /** Terminates the process; returns the milliseconds until its exit. */
    double terminate(Duration timeout) throws InterruptedException {
        long before = System.nanoTime();
        process.destroy();
        if (!process.waitFor(timeout.toSeconds(), TimeUnit.SECONDS)) {
            process.destroyForcibly().waitFor();
        }
        return (System.nanoTime() - before) / 1e6;
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
