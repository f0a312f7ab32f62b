package io.gpufleet.nodedaemon.simulated.recording;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.nodedaemon.app.DeviceSource;
import io.gpufleet.nodedaemon.model.Look;
import io.gpufleet.nodedaemon.model.Sign;
import io.gpufleet.nodedaemon.model.Vitals;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * A recording played again at the pace at which it was made: a look and vitals are what the devices said last by then,
 * signs come at their time. At its end it holds, or begins anew.
 */
public final class RecordedSource implements DeviceSource {
    /** What the value of GPUFLEET_DEVICES begins with. */
    public static final String PREFIX = "recording:";

    private static final Duration NEVER = Duration.ofDays(10_000);
    private static final String LOOP = ":loop";

    private final List<Entry> entries;
    private final List<Entry> signs;
    private final Duration length;
    private final boolean loop;
    private final LongSupplier nanos;
    private final long begin;
    private final CountDownLatch closed = new CountDownLatch(1);
    private int told;

    /** The first entry is played at once, however long the recorded source took to say it. */
    RecordedSource(List<Entry> recorded, boolean loop, LongSupplier nanos) {
        Duration first = recorded.getFirst().at();
        this.entries = recorded.stream()
                .map(entry -> new Entry(entry.at().minus(first), entry.kind(), entry.content()))
                .toList();
        this.signs = entries.stream()
                .filter(entry -> entry.kind() == Entry.Kind.SIGN)
                .toList();
        this.length = entries.getLast().at().plusMillis(1);
        this.loop = loop;
        this.nanos = nanos;
        this.begin = nanos.getAsLong();
    }

    /**
     * Opens a recording.
     *
     * @param devices value of GPUFLEET_DEVICES: {@code recording:FILE} holds at the end, {@code recording:FILE:loop} begins
     *     anew
     */
    public static RecordedSource open(String devices, LongSupplier nanos) {
        String file = devices.substring(PREFIX.length());
        boolean loop = file.endsWith(LOOP);
        String path = loop ? file.substring(0, file.length() - LOOP.length()) : file;
        if (path.isEmpty()) {
            throw new ConfigurationException("GPUFLEET_DEVICES=" + devices
                    + " names no file: write recording:FILE, or recording:FILE:loop to play it again and again");
        }
        return new RecordedSource(RecordingFile.read(Path.of(path)), loop, nanos);
    }

    /** A recording is no hardware: nobody may take its devices for real ones. */
    @Override
    public String name() {
        return "simulated";
    }

    /** Time since the first begin; it goes on over the end. */
    private Duration now() {
        return Duration.ofNanos(nanos.getAsLong() - begin);
    }

    private Duration within(Duration now) {
        if (now.compareTo(length) < 0) {
            return now;
        }
        return loop ? Duration.ofNanos(now.toNanos() % length.toNanos()) : length;
    }

    private Optional<Entry> latest(Entry.Kind kind) {
        Duration now = within(now());
        return entries.stream()
                .filter(entry -> entry.kind() == kind && entry.at().compareTo(now) <= 0)
                .reduce((_, later) -> later);
    }

    @Override
    public Look look() {
        return latest(Entry.Kind.LOOK)
                .map(Entry::look)
                .orElse(new Look.Blind(Look.DriverTrouble.FAILED, "the recording has no look until now"));
    }

    @Override
    public List<Vitals> vitals() {
        return latest(Entry.Kind.VITALS).map(Entry::vitals).orElse(List.of());
    }

    @Override
    public List<Sign> await(Duration atMost) {
        Duration until = now().plus(atMost);
        try {
            List<Sign> signs = due();
            while (signs.isEmpty() && now().compareTo(until) < 0) {
                long wait = Math.min(untilNextSign(), until.minus(now()).toNanos());
                if (closed.await(Math.max(1, wait), TimeUnit.NANOSECONDS)) {
                    return List.of();
                }
                signs = due();
            }
            return signs;
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            return List.of();
        }
    }

    /** Signs of all rounds up to now that were not told. */
    private List<Sign> due() {
        var due = new ArrayList<Sign>();
        while (timeOf(told).compareTo(now()) <= 0) {
            due.add(signs.get(told % signs.size()).sign());
            told++;
        }
        return due;
    }

    private long untilNextSign() {
        return timeOf(told).minus(now()).toNanos();
    }

    /** When a sign comes, counted over all rounds; never, where there is none. */
    private Duration timeOf(int sign) {
        if (signs.isEmpty() || (!loop && sign >= signs.size())) {
            return NEVER;
        }
        return length.multipliedBy(sign / signs.size())
                .plus(signs.get(sign % signs.size()).at());
    }

    @Override
    public void release() {
        // Nothing is held: there is no driver.
    }

    @Override
    public void close() {
        closed.countDown();
    }
}
