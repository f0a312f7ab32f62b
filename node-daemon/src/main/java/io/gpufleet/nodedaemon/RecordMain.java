package io.gpufleet.nodedaemon;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.kit.config.Environment;
import io.gpufleet.kit.config.Setting;
import io.gpufleet.nodedaemon.app.DeviceSource;
import io.gpufleet.nodedaemon.model.Look;
import io.gpufleet.nodedaemon.model.Sign;
import io.gpufleet.nodedaemon.simulated.recording.RecordingSource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/** The command {@code record}: what the devices say for a while, in a file that GPUFLEET_DEVICES=recording:FILE plays. */
final class RecordMain {
    private static final int DONE = 0;
    private static final int FAILED = 1;
    private static final Duration LOOK_PERIOD = Duration.ofSeconds(30);
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final Duration LONGEST_WAIT = Duration.ofMillis(500);

    private RecordMain() {}

    /** Records until its time is over or it is interrupted; answers the exit status: 0 recorded, 1 the file failed. */
    static int record(Map<String, String> environment, CommandLine line) {
        Duration length = time(line, "--for", "10m");
        Duration every = time(line, "--every", "5s");
        Path file = Path.of(line.operand());
        var interrupted = new AtomicBoolean();
        var closed = new CountDownLatch(1);
        DeviceSource devices = ProbeMain.open(environment);
        try (var source = RecordingSource.begin(
                devices, file, line.has("--anonymous"), Clock.systemUTC().instant(), System::nanoTime)) {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> end(interrupted, closed), "record-end"));
            System.err.println("recording to " + file + " for " + length.toSeconds() + " s; Ctrl-C ends it earlier");
            run(source, length, every, interrupted);
            System.err.println(source.lines() + " lines recorded; play them with GPUFLEET_DEVICES=recording:"
                    + file.toAbsolutePath());
            return DONE;
        } catch (IOException | UncheckedIOException failed) {
            System.err.println("node-daemon record: " + file + " can not be written (" + failed.getMessage()
                    + "); name a file in a directory that this user may write");
            return FAILED;
        } finally {
            closed.countDown();
        }
    }

    /** On SIGINT and SIGTERM: the process ends when this returns, so the file is closed first. */
    private static void end(AtomicBoolean interrupted, CountDownLatch closed) {
        interrupted.set(true);
        try {
            boolean _ = closed.await(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException impatient) {
            Thread.currentThread().interrupt();
        }
    }

    private static Duration time(CommandLine line, String option, String otherwise) {
        String text = line.value(option, otherwise);
        try {
            return Environment.read(Map.of("GPUFLEET_TIME", text), List.of(Setting.required("GPUFLEET_TIME", "time")))
                    .duration("GPUFLEET_TIME");
        } catch (ConfigurationException wrong) {
            throw new ConfigurationException(
                    option + "='" + text + "' is not usable: it takes a duration such as 30s, 10m or 1h");
        }
    }

    private static void run(RecordingSource source, Duration length, Duration every, AtomicBoolean interrupted) {
        long begin = System.nanoTime();
        long nextLook = begin;
        long nextVitals = begin;
        for (long now = begin; now - begin < length.toNanos() && !interrupted.get(); now = System.nanoTime()) {
            if (nextLook - now <= 0) {
                Look _ = source.look();
                nextLook = now + LOOK_PERIOD.toNanos();
            }
            if (nextVitals - now <= 0) {
                var _ = source.vitals();
                nextVitals = now + every.toNanos();
            }
            long due = Math.min(Math.min(nextLook, nextVitals), begin + length.toNanos()) - System.nanoTime();
            for (Sign sign : source.await(Duration.ofNanos(Math.clamp(due, 0, LONGEST_WAIT.toNanos())))) {
                nextLook = sign instanceof Sign.LookAgain ? System.nanoTime() : nextLook;
                nextVitals = System.nanoTime();
            }
        }
    }
}
