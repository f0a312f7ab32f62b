package io.gpufleet.nodedaemon.kmsg;

import io.gpufleet.nodedaemon.model.fault.KernelLogFault;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.ReadableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Follows the kernel log on its own thread and reports the faults in unread records. */
public final class KernelLog implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(KernelLog.class);
    /** The kernel rejects a read into a buffer smaller than the record, which has at most 8 KiB. */
    private static final int RECORD_BYTES = 16_384;

    /** A read that took at least this long waited for the next record, so the log was read to its end. */
    private static final Duration BLOCKED = Duration.ofSeconds(1);

    private static final Duration END_POLL_INTERVAL = Duration.ofMillis(200);
    private static final Duration INITIAL_BACKOFF = Duration.ofSeconds(1);
    private static final Duration MAX_BACKOFF = Duration.ofSeconds(60);
    /** A failed read means overwritten records; this many in a row mean that the log is broken. */
    private static final int MAX_FAILED_READS = 3;

    /** Code is compiled after 256 calls. */
    private static final int WARM_UP_ROUNDS = 270;

    private static final String WARM_UP_RECORD =
            "4,0,0,-;NVRM: Xid (PCI:0000:00:00): 79, pid=1, name=warm-up, GPU has fallen off the bus.";

    private final Path file;
    private final KernelLogOpener opener;
    private final KmsgPositionFile positionFile;
    private final Consumer<KernelLogFault> faults;
    private final LongAdder overruns = new LongAdder();
    private final CountDownLatch closing = new CountDownLatch(1);
    private final Thread thread;
    private KmsgPosition position;
    private boolean errorLogged;

    /**
     * Settings of the log.
     *
     * @param file {@code /dev/kmsg}, or a file like it
     * @param stateDirectory directory in which the position is saved over a restart
     * @param bootId boot id of this boot
     * @param uptimeMicros uptime of the machine; read once
     */
    public record KernelLogSettings(Path file, Path stateDirectory, String bootId, LongSupplier uptimeMicros) {}

    /** Opens the log at its first record. */
    interface KernelLogOpener {
        /** The channel blocks in reads; a failed read is retried. */
        ReadableByteChannel open() throws IOException;
    }

    /** Starts following the log; the consumer is called on the thread of this log. */
    public KernelLog(KernelLogSettings settings, Consumer<KernelLogFault> faults) {
        this(settings, faults, () -> FileChannel.open(settings.file(), StandardOpenOption.READ));
    }

    KernelLog(KernelLogSettings settings, Consumer<KernelLogFault> faults, KernelLogOpener opener) {
        this.file = settings.file();
        this.opener = opener;
        this.positionFile = new KmsgPositionFile(settings.stateDirectory());
        this.faults = faults;
        this.position = positionFile
                .load(settings.bootId())
                .orElseGet(() -> KmsgPosition.initial(
                        settings.bootId(), settings.uptimeMicros().getAsLong()));
        positionFile.save(position);
        this.thread = Thread.ofPlatform().name("kernel-log").daemon(true).start(this::run);
    }

    /** Number of times that records were overwritten before they were read. */
    public long overruns() {
        return overruns.sum();
    }

    /** On a real GPU the first record took 8 to 13 ms longer than later ones: its classes were loaded for it. */
    private void warmUp() {
        var lines = new LineSplitter();
        for (int round = 0; round < WARM_UP_ROUNDS; round++) {
            for (String line : lines.split(WARM_UP_RECORD + "\n")) {
                boolean _ = KmsgRecord.parse(line)
                        .filter(KmsgRecord::fromKernel)
                        .map(one -> DriverMessageParser.read(one.text()))
                        .isPresent();
            }
        }
    }

    private void run() {
        Duration pause = INITIAL_BACKOFF;
        try {
            warmUp();
            do {
                try (ReadableByteChannel channel = opener.open()) {
                    pause = INITIAL_BACKOFF;
                    follow(channel);
                } catch (ClosedChannelException closed) {
                    return;
                } catch (IOException failed) {
                    logOnce(failed);
                }
                pause = pause.multipliedBy(2).compareTo(MAX_BACKOFF) < 0 ? pause.multipliedBy(2) : MAX_BACKOFF;
            } while (!closing.await(pause.toNanos(), TimeUnit.NANOSECONDS));
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }

    private void follow(ReadableByteChannel channel) throws IOException, InterruptedException {
        var lines = new LineSplitter();
        boolean waited = false;
        int failures = 0;
        ByteBuffer buffer = ByteBuffer.allocateDirect(RECORD_BYTES);
        while (closing.getCount() > 0) {
            long begun = System.nanoTime();
            int read;
            try {
                read = channel.read(buffer.clear());
                failures = 0;
            } catch (ClosedChannelException closed) {
                throw closed;
            } catch (IOException overrun) {
                failures++;
                if (failures >= MAX_FAILED_READS) {
                    throw overrun;
                }
                overruns.increment();
                lines.reset();
                continue;
            }
            if (read < 0) {
                // Not /dev/kmsg; a pipe without a writer, or a file, may continue later.
                boolean _ = closing.await(END_POLL_INTERVAL.toMillis(), TimeUnit.MILLISECONDS);
            } else {
                waited = waited || System.nanoTime() - begun >= BLOCKED.toNanos();
                for (String line :
                        lines.split(StandardCharsets.UTF_8.decode(buffer.flip()).toString())) {
                    handleLine(line, waited);
                }
            }
        }
    }

    private void handleLine(String line, boolean waited) {
        KmsgRecord.parse(line)
                .filter(KmsgRecord::fromKernel)
                .filter(one -> position.isUnread(one, waited))
                .ifPresent(one -> {
                    var reports = DriverMessageParser.read(one.text());
                    reports.forEach(faults);
                    if (!reports.isEmpty()) {
                        position = position.advancedTo(one.sequence());
                        positionFile.save(position);
                    }
                });
    }

    private void logOnce(IOException why) {
        if (!errorLogged) {
            LOG.atWarn()
                    .addKeyValue("file", file)
                    .addKeyValue("error", why.toString())
                    .log(
                            "kernel log cannot be read, faults come from NVML only; needs privileges, or set GPUFLEET_KMSG=off");
        }
        errorLogged = true;
    }

    @Override
    public void close() {
        closing.countDown();
        thread.interrupt();
    }
}
