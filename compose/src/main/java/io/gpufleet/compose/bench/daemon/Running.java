package io.gpufleet.compose.bench.daemon;

import io.gpufleet.compose.fleet.Processes;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A plugin's process, and what the system says of it. */
final class Running implements AutoCloseable {
    /** What the kernel counts processor time in; 100 on every Linux that Java runs on. */
    private static final double TICKS_A_SECOND = 100;

    private final Process process;
    private final long startedNanos;

    /** Starts it, with its output appended to a file. */
    Running(Candidate candidate, Map<String, String> settings, Path log) {
        try {
            Files.createDirectories(log.getParent());
            var builder = new ProcessBuilder(candidate.command())
                    .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
            builder.environment().keySet().removeIf(key -> key.startsWith("GPUFLEET_"));
            builder.environment().putAll(settings);
            this.startedNanos = System.nanoTime();
            this.process = builder.start();
        } catch (IOException failed) {
            throw new UncheckedIOException(candidate.name() + " can not be started", failed);
        }
    }

    long startedNanos() {
        return startedNanos;
    }

    /** Lets time pass while the process runs. */
    void rest(Duration time) throws InterruptedException {
        if (process.waitFor(time.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new IllegalStateException("the plugin ended by itself with status " + process.exitValue());
        }
    }

    /** Resident memory, MiB. */
    double residentMebibytes() {
        return Processes.residentBytes(process.pid()).orElse(0) / 1048576.0;
    }

    /** How many threads it has. */
    int threads() {
        try (var tasks = Files.list(proc("task"))) {
            return (int) tasks.count();
        } catch (IOException gone) {
            throw new UncheckedIOException(gone);
        }
    }

    /** Seconds of processor time used so far. */
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

    /** Asks it to end and waits; how many milliseconds that took. */
    double end(Duration patience) throws InterruptedException {
        long before = System.nanoTime();
        process.destroy();
        if (!process.waitFor(patience.toSeconds(), TimeUnit.SECONDS)) {
            process.destroyForcibly().waitFor();
        }
        return (System.nanoTime() - before) / 1e6;
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
