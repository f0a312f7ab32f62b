package io.gpufleet.runtime.bus;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.stream.LongStream;

/** Histograms of what takes milliseconds when all is well and seconds when it is not. */
public final class LatencyTimer {
    private static final Duration[] BUCKETS = LongStream.of(
                    1, 2, 3, 4, 5, 7, 10, 15, 20, 25, 30, 40, 50, 75, 100, 150, 200, 300, 500, 1_000, 2_500, 10_000)
            .mapToObj(Duration::ofMillis)
            .toArray(Duration[]::new);

    private LatencyTimer() {}

    /** A timer with the same buckets as every other one of these. */
    public static Timer register(MeterRegistry registry, String name, String description, String... tags) {
        return Timer.builder(name)
                .description(description)
                .tags(tags)
                .serviceLevelObjectives(BUCKETS)
                .register(registry);
    }
}
