package io.gpufleet.nodedaemon;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.kit.config.Environment;
import io.gpufleet.kit.config.Setting;
import io.gpufleet.nodedaemon.app.device.DeviceSource;
import io.gpufleet.nodedaemon.cli.CommandLine;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.fault.DeviceEvent;
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

/** The command {@code record}: records the devices in a file that GPUFLEET_DEVICES=recording:FILE replays. */
final class RecordMain {
    private static final int EXIT_OK = 0;
    private static final int EXIT_FAILED = 1;
    private static final Duration SCAN_PERIOD = Duration.ofSeconds(30);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);
    private static final Duration MAX_WAIT = Duration.ofMillis(500);

    private RecordMain() {}

    /** Records for a duration or until interrupted; returns the exit status: 0 recorded, 1 the file cannot be written. */
    static int record(Map<String, String> environment, CommandLine line) {
        Duration length = duration(line, "--for", "10m");
        Duration every = duration(line, "--every", "5s");
        Path file = Path.of(line.operand());
        var interrupted = new AtomicBoolean();
        var closed = new CountDownLatch(1);
        DeviceSource devices = ProbeMain.open(environment);
        try (var source = RecordingSource.begin(
                devices, file, line.has("--anonymous"), Clock.systemUTC().instant(), System::nanoTime)) {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> interrupt(interrupted, closed), "record-end"));
            System.err.println("recording to " + file + " for " + length.toSeconds() + " s; Ctrl-C stops earlier");
            run(source, length, every, interrupted);
            System.err.println(source.lines() + " lines recorded; replay with GPUFLEET_DEVICES=recording:"
                    + file.toAbsolutePath());
            return EXIT_OK;
        } catch (IOException | UncheckedIOException failed) {
            System.err.println("node-daemon record: " + file + " cannot be written (" + failed.getMessage()
                    + "); choose a file in a writable directory");
            return EXIT_FAILED;
        } finally {
            closed.countDown();
        }
    }

    /** Waits on SIGINT and SIGTERM until the file is closed: the process ends when this returns. */
    private static void interrupt(AtomicBoolean interrupted, CountDownLatch closed) {
        interrupted.set(true);
        try {
            boolean _ = closed.await(CLOSE_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException interruptedAgain) {
            Thread.currentThread().interrupt();
        }
    }

    private static Duration duration(CommandLine line, String option, String defaultValue) {
        String text = line.value(option, defaultValue);
        try {
            return Environment.read(Map.of("GPUFLEET_TIME", text), List.of(Setting.required("GPUFLEET_TIME", "time")))
                    .duration("GPUFLEET_TIME");
        } catch (ConfigurationException invalid) {
            throw new ConfigurationException(
                    option + "='" + text + "' is not usable: it takes a duration such as 30s, 10m or 1h");
        }
    }

    private static void run(RecordingSource source, Duration length, Duration every, AtomicBoolean interrupted) {
        long begin = System.nanoTime();
        long nextScan = begin;
        long nextSample = begin;
        for (long now = begin; now - begin < length.toNanos() && !interrupted.get(); now = System.nanoTime()) {
            if (nextScan - now <= 0) {
                DeviceScan _ = source.scan();
                nextScan = now + SCAN_PERIOD.toNanos();
            }
            if (nextSample - now <= 0) {
                var _ = source.sample();
                nextSample = now + every.toNanos();
            }
            long due = Math.min(Math.min(nextScan, nextSample), begin + length.toNanos()) - System.nanoTime();
            for (DeviceEvent event : source.await(Duration.ofNanos(Math.clamp(due, 0, MAX_WAIT.toNanos())))) {
                nextScan = event instanceof DeviceEvent.RescanRequested ? System.nanoTime() : nextScan;
                nextSample = System.nanoTime();
            }
        }
    }
}
