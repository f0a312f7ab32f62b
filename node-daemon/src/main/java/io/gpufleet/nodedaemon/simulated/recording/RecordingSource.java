package io.gpufleet.nodedaemon.simulated.recording;

import io.gpufleet.nodedaemon.app.DeviceSource;
import io.gpufleet.nodedaemon.model.Look;
import io.gpufleet.nodedaemon.model.Sign;
import io.gpufleet.nodedaemon.model.Vitals;
import io.vertx.core.json.JsonObject;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.zip.GZIPOutputStream;

/**
 * Another source, and everything that it says also in a file, a line each; a look only where it differs from the last. One
 * thread.
 */
public final class RecordingSource implements DeviceSource {
    /** Version of the format, in the first line. */
    static final int FORMAT = 1;

    private final DeviceSource source;
    private final BufferedWriter file;
    private final LongSupplier nanos;
    private final long begin;
    private final Optional<Anonymity> anonymity;
    private String lastLook = "";
    private int lines;

    private RecordingSource(DeviceSource source, BufferedWriter file, boolean anonymous, LongSupplier nanos) {
        this.source = source;
        this.file = file;
        this.nanos = nanos;
        this.begin = nanos.getAsLong();
        this.anonymity = anonymous ? Optional.of(new Anonymity()) : Optional.empty();
    }

    /**
     * Begins a file, in place of one that is there; a name that ends in {@code .gz} is compressed.
     *
     * @param anonymous whether other UUIDs and serial numbers take the place of the real ones
     */
    public static RecordingSource begin(
            DeviceSource source, Path file, boolean anonymous, Instant now, LongSupplier nanos) throws IOException {
        var out = Files.newOutputStream(file);
        var writer = new BufferedWriter(new OutputStreamWriter(
                file.toString().endsWith(".gz") ? new GZIPOutputStream(out, true) : out, StandardCharsets.UTF_8));
        writer.write(new JsonObject()
                .put("recording", FORMAT)
                .put("source", source.name())
                .put("begun", now.toString())
                .put("anonymous", anonymous)
                .encode());
        writer.newLine();
        writer.flush();
        return new RecordingSource(source, writer, anonymous, nanos);
    }

    /** Lines written, without the first. */
    public int lines() {
        return lines;
    }

    private Duration at() {
        return Duration.ofNanos(nanos.getAsLong() - begin);
    }

    private void write(Entry entry) {
        String line = entry.line();
        try {
            file.write(anonymity.map(other -> other.hide(line)).orElse(line));
            file.newLine();
            // A recording that is cut off by a crash is worth as much as it has lines.
            file.flush();
            lines++;
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    @Override
    public String name() {
        return source.name();
    }

    @Override
    public Look look() {
        Look look = source.look();
        Entry entry = Entry.of(at(), look);
        String text = entry.content().toString();
        if (!text.equals(lastLook)) {
            lastLook = text;
            write(entry);
        }
        return look;
    }

    @Override
    public List<Sign> await(Duration atMost) {
        List<Sign> signs = source.await(atMost);
        signs.forEach(sign -> write(Entry.of(at(), sign)));
        return signs;
    }

    @Override
    public List<Vitals> vitals() {
        List<Vitals> vitals = source.vitals();
        write(Entry.of(at(), vitals));
        return vitals;
    }

    @Override
    public void release() {
        source.release();
    }

    @Override
    public void close() {
        try {
            file.close();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        } finally {
            source.close();
        }
    }
}
