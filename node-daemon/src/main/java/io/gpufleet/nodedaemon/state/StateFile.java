package io.gpufleet.nodedaemon.state;

import io.gpufleet.kit.files.AtomicFile;
import io.gpufleet.nodedaemon.app.StateStore;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A JSON file, replaced by a rename and written on its own thread, so that a slow disk delays no caller. */
public final class StateFile implements StateStore {
    private static final Logger LOG = LoggerFactory.getLogger(StateFile.class);

    private final Path file;
    private final String devices;
    private final long epoch;
    private final Executor writer;
    private @Nullable StoredState pending;
    private boolean writeFailed;
    private long saved;
    private long written;

    /**
     * Uses the file of a state directory; it need not exist. State of other devices is not loaded: simulated GPUs of an
     * earlier setting are not lost.
     *
     * @param devices source of the devices, as in GPUFLEET_DEVICES
     * @param epoch of this daemon, since which a directory without such state is known
     * @param writer runs one task at a time; a write may block
     */
    public StateFile(Path stateDirectory, String devices, long epoch, Executor writer) {
        this.epoch = epoch;
        this.devices = devices;
        this.writer = writer;
        this.file = stateDirectory.resolve("devices.json");
    }

    @Override
    public StoredState load() {
        try {
            var json = new JsonObject(Files.readString(file));
            String saved = StateJson.devices(json, devices);
            if (!saved.equals(devices)) {
                LOG.atInfo().addKeyValue("saved", saved).log("saved state is of other devices, starting empty");
                return StoredState.empty(epoch);
            }
            return StateJson.read(json);
        } catch (NoSuchFileException firstStart) {
            return StoredState.empty(epoch);
        } catch (IOException | RuntimeException unreadable) {
            LOG.atWarn()
                    .addKeyValue("file", file)
                    .addKeyValue("error", unreadable.getMessage())
                    .log("saved state cannot be read, starting empty");
            return StoredState.empty(epoch);
        }
    }

    @Override
    public synchronized void save(StoredState state) {
        if (pending == null) {
            writer.execute(this::writeNewest);
        }
        pending = state;
        saved++;
    }

    /** Waits until the newest state is written, or its write has failed, at most so long; returns whether it came to that. */
    public synchronized boolean awaitWritten(Duration atMost) throws InterruptedException {
        long end = System.nanoTime() + atMost.toNanos();
        while (written < saved && System.nanoTime() - end < 0) {
            TimeUnit.NANOSECONDS.timedWait(this, end - System.nanoTime());
        }
        return written >= saved;
    }

    private void writeNewest() {
        @Nullable StoredState newest;
        long number;
        synchronized (this) {
            newest = pending;
            pending = null;
            number = saved;
        }
        if (newest != null) {
            write(newest);
        }
        synchronized (this) {
            written = number;
            notifyAll();
        }
    }

    private void write(StoredState state) {
        try {
            byte[] json = StateJson.write(state, devices).getBytes(StandardCharsets.UTF_8);
            AtomicFile.write(file, json, AtomicFile.Durability.POWER_CUT);
            writeFailed = false;
        } catch (IOException | RuntimeException | Error failed) {
            // Whatever it was, the next state is written again.
            if (!writeFailed) {
                LOG.atWarn()
                        .addKeyValue("file", file)
                        .addKeyValue("error", failed.toString())
                        .log("state cannot be saved and would be lost by a restart; check the disk");
            }
            writeFailed = true;
        }
    }
}
