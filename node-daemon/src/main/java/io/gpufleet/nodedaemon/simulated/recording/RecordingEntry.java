package io.gpufleet.nodedaemon.simulated.recording;

import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.fault.DeviceEvent;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.List;

/**
 * One line of a recording: {@code {"at": milliseconds, "scan" | "samples" | "event": content}}.
 *
 * @param at time since the start of the recording, by the monotonic clock
 * @param kind kind of the content
 * @param content JSON of the content
 */
record RecordingEntry(Duration at, EntryKind kind, Object content) {
    /** Kind of an entry; its key in the file is the lower-case name. */
    enum EntryKind {
        /** A scan. */
        SCAN,
        /** Samples of all GPUs. */
        SAMPLES,
        /** A device event. */
        EVENT;

        private String key() {
            return name().toLowerCase(java.util.Locale.ROOT);
        }
    }

    static RecordingEntry of(Duration at, DeviceScan scan) {
        return new RecordingEntry(at, EntryKind.SCAN, ReflectiveJsonCodec.write(scan));
    }

    static RecordingEntry of(Duration at, List<GpuSample> samples) {
        return new RecordingEntry(at, EntryKind.SAMPLES, ReflectiveJsonCodec.write(samples));
    }

    static RecordingEntry of(Duration at, DeviceEvent event) {
        return new RecordingEntry(at, EntryKind.EVENT, ReflectiveJsonCodec.write(event));
    }

    String line() {
        return new JsonObject()
                .put("at", at.toMillis())
                .put(kind.key(), content)
                .encode();
    }

    /** Parses a line; throws a RuntimeException where it is no entry. */
    static RecordingEntry parse(String line) {
        var json = new JsonObject(line);
        for (EntryKind kind : EntryKind.values()) {
            if (json.containsKey(kind.key())) {
                var entry = new RecordingEntry(Duration.ofMillis(json.getLong("at")), kind, json.getValue(kind.key()));
                entry.decode();
                return entry;
            }
        }
        throw new IllegalArgumentException("neither scan, samples nor event");
    }

    /** Refuses content that cannot be decoded, so that a bad line is found when the file is read and not during replay. */
    private void decode() {
        switch (kind) {
            case SCAN -> scan();
            case SAMPLES -> samples();
            case EVENT -> event();
        }
    }

    DeviceScan scan() {
        return ReflectiveJsonCodec.read(DeviceScan.class, content);
    }

    List<GpuSample> samples() {
        return ((JsonArray) content)
                .stream()
                        .map(each -> ReflectiveJsonCodec.read(GpuSample.class, each))
                        .toList();
    }

    DeviceEvent event() {
        return ReflectiveJsonCodec.read(DeviceEvent.class, content);
    }
}
