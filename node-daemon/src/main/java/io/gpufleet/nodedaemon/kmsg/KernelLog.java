package io.gpufleet.nodedaemon.kmsg;

import io.gpufleet.nodedaemon.model.KernelReport;
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

/** Follows the kernel log on a thread of its own and hands on the faults that nobody has read before. */
public final class KernelLog implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(KernelLog.class);
    /** The kernel refuses a read into less than a whole record, which has 8 KiB at most. */
    private static final int RECORD_BYTES = 16_384;

    /** A read that took so long waited for the next record: the log had come to its end. */
    private static final Duration WAITED = Duration.ofSeconds(1);

    private static final Duration AT_THE_END = Duration.ofMillis(200);
    private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(60);
    /** One failed read is records that were overwritten before we came to them; more in a row are a broken log. */
    private static final int FAILED_READS = 3;

    private final Path file;
    private final Opening opening;
    private final BookmarkFile kept;
    private final Consumer<KernelReport> faults;
    private final LongAdder overruns = new LongAdder();
    private final CountDownLatch closing = new CountDownLatch(1);
    private final Thread thread;
    private Bookmark bookmark;
    private boolean complained;

    /**
     * Where the log is, and where the place in it is kept.
     *
     * @param file {@code /dev/kmsg}, or what behaves like it
     * @param stateDirectory where the place is kept over a restart
     * @param bootId of this boot
     * @param uptimeMicros how long the machine is up; asked once
     */
    public record Settings(Path file, Path stateDirectory, String bootId, LongSupplier uptimeMicros) {}

    /** Opens the log at its first record. */
    interface Opening {
        /** Blocks in reads; a failed one is tried again. */
        ReadableByteChannel open() throws IOException;
    }

    /** Starts to follow; the consumer is called on a thread of this log. */
    public KernelLog(Settings settings, Consumer<KernelReport> faults) {
        this(settings, faults, () -> FileChannel.open(settings.file(), StandardOpenOption.READ));
    }

    KernelLog(Settings settings, Consumer<KernelReport> faults, Opening opening) {
        this.file = settings.file();
        this.opening = opening;
        this.kept = new BookmarkFile(settings.stateDirectory());
        this.faults = faults;
        this.bookmark = kept.load(settings.bootId())
                .orElseGet(() -> Bookmark.first(
                        settings.bootId(), settings.uptimeMicros().getAsLong()));
        kept.keep(bookmark);
        this.thread = Thread.ofPlatform().name("kernel-log").daemon(true).start(this::run);
    }

    /** How often records were overwritten before they were read. */
    public long overruns() {
        return overruns.sum();
    }

    private void run() {
        Duration pause = FIRST_PAUSE;
        try {
            do {
                try (ReadableByteChannel channel = opening.open()) {
                    pause = FIRST_PAUSE;
                    follow(channel);
                } catch (ClosedChannelException closed) {
                    return;
                } catch (IOException failed) {
                    complain(failed);
                }
                pause = pause.multipliedBy(2).compareTo(LONGEST_PAUSE) < 0 ? pause.multipliedBy(2) : LONGEST_PAUSE;
            } while (!closing.await(pause.toNanos(), TimeUnit.NANOSECONDS));
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }

    private void follow(ReadableByteChannel channel) throws IOException, InterruptedException {
        var lines = new Lines();
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
                if (failures >= FAILED_READS) {
                    throw overrun;
                }
                overruns.increment();
                lines.forget();
                continue;
            }
            if (read < 0) {
                // No device does so; a pipe without a writer, or a file, may go on later.
                boolean _ = closing.await(AT_THE_END.toMillis(), TimeUnit.MILLISECONDS);
            } else {
                waited = waited || System.nanoTime() - begun >= WAITED.toNanos();
                for (String line :
                        lines.of(StandardCharsets.UTF_8.decode(buffer.flip()).toString())) {
                    line(line, waited);
                }
            }
        }
    }

    private void line(String line, boolean waited) {
        KernelRecord.parse(line)
                .filter(KernelRecord::fromKernel)
                .filter(one -> bookmark.unread(one, waited))
                .ifPresent(one -> {
                    var reports = FaultText.read(one.text());
                    reports.forEach(faults);
                    if (!reports.isEmpty()) {
                        bookmark = bookmark.at(one.sequence());
                        kept.keep(bookmark);
                    }
                });
    }

    private void complain(IOException why) {
        if (!complained) {
            LOG.atWarn()
                    .addKeyValue("file", file)
                    .addKeyValue("error", why.toString())
                    .log(
                            "the kernel log can not be read, faults come from NVML alone; it needs privileges, or GPUFLEET_KMSG=off");
        }
        complained = true;
    }

    @Override
    public void close() {
        closing.countDown();
        thread.interrupt();
    }
}
