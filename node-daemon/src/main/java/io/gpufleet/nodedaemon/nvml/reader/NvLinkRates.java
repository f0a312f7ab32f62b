package io.gpufleet.nodedaemon.nvml.reader;

import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.Reading.Known;
import io.gpufleet.nodedaemon.model.device.Reading.Unavailable;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/** Bytes per second over all NVLinks of each GPU, from the counters of two samples, as DCGM publishes them. */
public final class NvLinkRates {
    /** Samples right after a fault follow each other closely, and a rate over so short a time says little. */
    private static final Duration MIN_INTERVAL = Duration.ofSeconds(1);

    private final LongSupplier nanoTime;
    private final Map<String, Counted> last = new ConcurrentHashMap<>();

    private record Counted(long nanos, double bytes, Reading<Double> rate) {}

    public NvLinkRates(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** Rate since the sample before; unavailable at the first one, and after the counter restarted. */
    Reading<Double> perSecond(String uuid, Reading<Double> bytesTotal) {
        if (!(bytesTotal instanceof Known<Double>(Double bytes))) {
            last.remove(uuid);
            return bytesTotal;
        }
        long now = nanoTime.getAsLong();
        Counted before = last.get(uuid);
        if (before != null && now - before.nanos() < MIN_INTERVAL.toNanos()) {
            return before.rate();
        }
        Reading<Double> rate = before == null || bytes < before.bytes()
                ? new Unavailable<>("first NVLink sample")
                : new Known<>((bytes - before.bytes()) * 1e9 / (now - before.nanos()));
        last.put(uuid, new Counted(now, bytes, rate));
        return rate;
    }
}
