package io.gpufleet.nodedaemon.simulated.recording;

import io.gpufleet.nodedaemon.app.device.DeviceSource;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.fault.DeviceEvent;
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
 * Records another source: writes every scan that differs from the last, every sample and every event to a file, one line
 * each. Not thread-safe. The first line is {@code {"recording": format, "source": name, "begun": time, "anonymous": flag}}.
 */
public final class RecordingSource implements DeviceSource {
    /** Version of the format, in the first line. */
    static final int FORMAT = 2;

    private final DeviceSource source;
    private final BufferedWriter file;
    private final LongSupplier nanos;
    private final long begin;
    private final Optional<Anonymizer> anonymity;
    private String lastScan = "";
    private int lines;

    private RecordingSource(DeviceSource source, BufferedWriter file, boolean anonymous, LongSupplier nanos) {
        this.source = source;
        this.file = file;
        this.nanos = nanos;
        this.begin = nanos.getAsLong();
        this.anonymity = anonymous ? Optional.of(new Anonymizer()) : Optional.empty();
    }

    /**
     * Starts a recording and replaces the file; a name that ends in {@code .gz} is compressed.
     *
     * @param anonymous whether UUIDs and serial numbers are replaced
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

    /** Number of lines written, without the first. */
    public int lines() {
        return lines;
    }

    private Duration elapsed() {
        return Duration.ofNanos(nanos.getAsLong() - begin);
    }

    private void write(RecordingEntry entry) {
        String line = entry.line();
        try {
            file.write(anonymity.map(other -> other.anonymize(line)).orElse(line));
            file.newLine();
            // Flushed after each line, so that a crash loses none of them.
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
    public DeviceScan scan() {
        DeviceScan scan = source.scan();
        RecordingEntry entry = RecordingEntry.of(elapsed(), scan);
        String text = entry.content().toString();
        if (!text.equals(lastScan)) {
            lastScan = text;
            write(entry);
        }
        return scan;
    }

    @Override
    public List<DeviceEvent> await(Duration atMost) {
        List<DeviceEvent> events = source.await(atMost);
        events.forEach(event -> write(RecordingEntry.of(elapsed(), event)));
        return events;
    }

    @Override
    public List<GpuSample> sample() {
        List<GpuSample> samples = source.sample();
        write(RecordingEntry.of(elapsed(), samples));
        return samples;
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
