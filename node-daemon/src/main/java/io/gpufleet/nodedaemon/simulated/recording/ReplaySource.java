package io.gpufleet.nodedaemon.simulated.recording;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.nodedaemon.app.device.DeviceSource;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.fault.DeviceEvent;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Replays a recording at its original pace: scan and sample return the latest recorded ones, events arrive at their time. At
 * the end it stops, or starts over.
 */
public final class ReplaySource implements DeviceSource {
    /** Prefix of the value of GPUFLEET_DEVICES. */
    public static final String PREFIX = "recording:";

    private static final Duration NEVER = Duration.ofDays(10_000);
    private static final String LOOP = ":loop";

    private final List<RecordingEntry> entries;
    private final List<RecordingEntry> events;
    private final Duration length;
    private final boolean loop;
    private final LongSupplier nanos;
    private final long begin;
    private final CountDownLatch closed = new CountDownLatch(1);
    private int delivered;

    /** The first entry is replayed at once, however long the recorded source took for it. */
    ReplaySource(List<RecordingEntry> recorded, boolean loop, LongSupplier nanos) {
        Duration first = recorded.getFirst().at();
        this.entries = recorded.stream()
                .map(entry -> new RecordingEntry(entry.at().minus(first), entry.kind(), entry.content()))
                .toList();
        this.events = entries.stream()
                .filter(entry -> entry.kind() == RecordingEntry.EntryKind.EVENT)
                .toList();
        this.length = entries.getLast().at().plusMillis(1);
        this.loop = loop;
        this.nanos = nanos;
        this.begin = nanos.getAsLong();
    }

    /**
     * Opens a recording.
     *
     * @param devices value of GPUFLEET_DEVICES: {@code recording:FILE} stops at the end, {@code recording:FILE:loop} starts
     *     over
     */
    public static ReplaySource open(String devices, LongSupplier nanos) {
        String file = devices.substring(PREFIX.length());
        boolean loop = file.endsWith(LOOP);
        String path = loop ? file.substring(0, file.length() - LOOP.length()) : file;
        if (path.isEmpty()) {
            throw new ConfigurationException("GPUFLEET_DEVICES=" + devices
                    + " names no file: write recording:FILE, or recording:FILE:loop to replay it again and again");
        }
        return new ReplaySource(RecordingReader.read(Path.of(path)), loop, nanos);
    }

    /** {@code simulated}, so that its devices are not taken for real hardware. */
    @Override
    public String name() {
        return "simulated";
    }

    /** Time since the start of the first round. */
    private Duration now() {
        return Duration.ofNanos(nanos.getAsLong() - begin);
    }

    private Duration within(Duration now) {
        if (now.compareTo(length) < 0) {
            return now;
        }
        return loop ? Duration.ofNanos(now.toNanos() % length.toNanos()) : length;
    }

    private Optional<RecordingEntry> latest(RecordingEntry.EntryKind kind) {
        Duration now = within(now());
        return entries.stream()
                .filter(entry -> entry.kind() == kind && entry.at().compareTo(now) <= 0)
                .reduce((_, later) -> later);
    }

    @Override
    public DeviceScan scan() {
        return latest(RecordingEntry.EntryKind.SCAN)
                .map(RecordingEntry::scan)
                .orElse(new DeviceScan.ScanFailed(DeviceScan.DriverProblem.FAILED, "the recording has no scan yet"));
    }

    @Override
    public List<GpuSample> sample() {
        return latest(RecordingEntry.EntryKind.SAMPLES)
                .map(RecordingEntry::samples)
                .orElse(List.of());
    }

    @Override
    public List<DeviceEvent> await(Duration atMost) {
        Duration until = now().plus(atMost);
        try {
            List<DeviceEvent> due = dueEvents();
            while (due.isEmpty() && now().compareTo(until) < 0) {
                long wait = Math.min(untilNextEvent(), until.minus(now()).toNanos());
                if (closed.await(Math.max(1, wait), TimeUnit.NANOSECONDS)) {
                    return List.of();
                }
                due = dueEvents();
            }
            return due;
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            return List.of();
        }
    }

    /** Events of all rounds up to now that were not delivered. */
    private List<DeviceEvent> dueEvents() {
        var due = new ArrayList<DeviceEvent>();
        while (timeOf(delivered).compareTo(now()) <= 0) {
            due.add(events.get(delivered % events.size()).event());
            delivered++;
        }
        return due;
    }

    private long untilNextEvent() {
        return timeOf(delivered).minus(now()).toNanos();
    }

    /** Time of an event, counted over all rounds; never where there are no more. */
    private Duration timeOf(int event) {
        if (events.isEmpty() || (!loop && event >= events.size())) {
            return NEVER;
        }
        return length.multipliedBy(event / events.size())
                .plus(events.get(event % events.size()).at());
    }

    @Override
    public void release() {
        // There is no driver to release.
    }

    @Override
    public void close() {
        closed.countDown();
    }
}
