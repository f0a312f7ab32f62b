package io.gpufleet.nodedaemon.app.device;

import io.gpufleet.nodedaemon.app.counters.DaemonCounters;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.fault.DeviceEvent;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** A device source that measures the duration of its calls, also of the one in flight. */
public final class TimedDeviceSource implements DeviceSource {
    private final DeviceSource source;
    private final DaemonCounters counters;
    private final LongSupplier nanos;
    private volatile OptionalLong inFlightSince = OptionalLong.empty();

    /** Wraps a source, with a monotonic clock. */
    public TimedDeviceSource(DeviceSource source, DaemonCounters counters, LongSupplier nanos) {
        this.source = source;
        this.counters = counters;
        this.nanos = nanos;
    }

    /** Returns how long the call in flight has taken; zero when there is none. */
    public Duration callInFlight() {
        OptionalLong since = inFlightSince;
        return since.isEmpty() ? Duration.ZERO : Duration.ofNanos(nanos.getAsLong() - since.getAsLong());
    }

    @Override
    public String name() {
        return source.name();
    }

    @Override
    public DeviceScan scan() {
        return timed("scan", source::scan);
    }

    @Override
    public List<GpuSample> sample() {
        return timed("sample", source::sample);
    }

    private <T> T timed(String call, Supplier<T> work) {
        long start = nanos.getAsLong();
        inFlightSince = OptionalLong.of(start);
        try {
            return work.get();
        } finally {
            inFlightSince = OptionalLong.empty();
            counters.deviceCall(call, nanos.getAsLong() - start);
        }
    }

    @Override
    public boolean deliverTo(Consumer<DeviceEvent> listener) {
        return source.deliverTo(listener);
    }

    @Override
    public List<DeviceEvent> await(Duration atMost) {
        return source.await(atMost);
    }

    @Override
    public Duration eventWaitInFlight() {
        return source.eventWaitInFlight();
    }

    @Override
    public void release() {
        source.release();
    }

    @Override
    public void close() {
        source.close();
    }
}
