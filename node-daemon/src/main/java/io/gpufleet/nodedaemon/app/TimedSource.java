package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.Look;
import io.gpufleet.nodedaemon.model.Sign;
import io.gpufleet.nodedaemon.model.Vitals;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** A device source whose calls are timed: how long each took, and how long the one under way has been taking. */
public final class TimedSource implements DeviceSource {
    private final DeviceSource source;
    private final Counters counters;
    private final LongSupplier nanos;
    private volatile OptionalLong underWaySince = OptionalLong.empty();

    /** Times the calls of a source by a monotonic clock. */
    public TimedSource(DeviceSource source, Counters counters, LongSupplier nanos) {
        this.source = source;
        this.counters = counters;
        this.nanos = nanos;
    }

    /** How long the call that is under way has been taking; zero when there is none. */
    public Duration underWay() {
        OptionalLong since = underWaySince;
        return since.isEmpty() ? Duration.ZERO : Duration.ofNanos(nanos.getAsLong() - since.getAsLong());
    }

    @Override
    public String name() {
        return source.name();
    }

    @Override
    public Look look() {
        return timed("look", source::look);
    }

    @Override
    public List<Vitals> vitals() {
        return timed("vitals", source::vitals);
    }

    private <T> T timed(String call, Supplier<T> work) {
        long start = nanos.getAsLong();
        underWaySince = OptionalLong.of(start);
        try {
            return work.get();
        } finally {
            underWaySince = OptionalLong.empty();
            counters.deviceCall(call, nanos.getAsLong() - start);
        }
    }

    @Override
    public List<Sign> await(Duration atMost) {
        return source.await(atMost);
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
