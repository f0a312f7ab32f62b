package io.gpufleet.nodedaemon.disk;

import io.gpufleet.nodedaemon.app.StateStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One file, replaced whole by a rename; written by a thread of its own, so that a slow disk holds up nobody. */
public final class StateFile implements StateStore, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(StateFile.class);

    private final Path file;
    private final BlockingQueue<Saved> newest = new ArrayBlockingQueue<>(1);
    private final Thread writer;
    private boolean broken;
    private long saved;
    private long written;

    private record Saved(long number, Remembered state) {}

    /** Opens the file of a state directory; it need not be there. */
    public StateFile(Path stateDirectory) {
        this.file = stateDirectory.resolve("devices.json");
        this.writer = Thread.ofPlatform().name("state-file").daemon(true).start(this::run);
    }

    @Override
    public Remembered load() {
        try {
            return StateText.read(Files.readString(file));
        } catch (NoSuchFileException firstStart) {
            return Remembered.NOTHING;
        } catch (IOException | RuntimeException unreadable) {
            LOG.atWarn()
                    .addKeyValue("file", file)
                    .addKeyValue("error", unreadable.getMessage())
                    .log("kept state can not be read and starts empty");
            return Remembered.NOTHING;
        }
    }

    @Override
    public synchronized void save(Remembered state) {
        newest.clear();
        newest.add(new Saved(++saved, state));
    }

    /** Waits until what was saved last is on the disk, or could not be written; at most so long. */
    public synchronized void awaitWritten(Duration atMost) throws InterruptedException {
        long end = System.nanoTime() + atMost.toNanos();
        while (written < saved && System.nanoTime() - end < 0) {
            TimeUnit.NANOSECONDS.timedWait(this, end - System.nanoTime());
        }
    }

    private synchronized void written(Saved what) {
        written = what.number();
        notifyAll();
    }

    private void run() {
        try {
            while (true) {
                Saved next = newest.take();
                write(next.state());
                written(next);
            }
        } catch (InterruptedException end) {
            Optional.ofNullable(newest.poll()).map(Saved::state).ifPresent(this::write);
        }
    }

    private void write(Remembered state) {
        Path next = file.resolveSibling(file.getFileName() + ".next");
        try {
            Files.createDirectories(file.getParent());
            try (var channel = FileChannel.open(
                    next, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE)) {
                channel.write(ByteBuffer.wrap(StateText.write(state).getBytes(StandardCharsets.UTF_8)));
                channel.force(false);
            }
            Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            broken = false;
        } catch (IOException failed) {
            if (!broken) {
                LOG.atWarn()
                        .addKeyValue("file", file)
                        .addKeyValue("error", failed.toString())
                        .log("state can not be kept, a restart would forget it; check the disk");
            }
            broken = true;
        }
    }

    @Override
    public void close() {
        writer.interrupt();
    }
}
