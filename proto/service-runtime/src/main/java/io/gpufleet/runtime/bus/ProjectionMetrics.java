package io.gpufleet.runtime.bus;

import io.gpufleet.runtime.engine.ProjectionCounters;
import io.gpufleet.runtime.engine.ProjectionEngine;
import io.gpufleet.runtime.projection.EventTimings;
import io.gpufleet.wire.Topic;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;

/** Registers every figure of a projection engine. */
public final class ProjectionMetrics {
    private ProjectionMetrics() {}

    /** Figures are read when they are scraped; the times of events are recorded from now on. */
    public static void register(MeterRegistry registry, ProjectionEngine<?> engine) {
        for (ProjectionCounters.Meter meter : ProjectionCounters.METERS) {
            if (meter.monotonic()) {
                FunctionCounter.builder(meter.name(), engine, meter::read)
                        .description(meter.description())
                        .register(registry);
            } else {
                Gauge.builder(meter.name(), engine, meter::read)
                        .description(meter.description())
                        .strongReference(true)
                        .register(registry);
            }
        }
        engine.timings(new HopTimers(registry));
    }

    /** One histogram for each hop of each topic, made when the first event took it; used by the engine's thread. */
    private static final class HopTimers implements EventTimings {
        private final MeterRegistry registry;
        private final Map<Hop, Map<Topic, Timer>> timers = new EnumMap<>(Hop.class);

        HopTimers(MeterRegistry registry) {
            this.registry = registry;
        }

        @Override
        public void took(Topic topic, Hop hop, Duration time) {
            timers.computeIfAbsent(hop, _ -> new EnumMap<>(Topic.class))
                    .computeIfAbsent(topic, _ -> timer(topic, hop))
                    .record(time);
        }

        private Timer timer(Topic topic, Hop hop) {
            return LatencyTimer.register(
                    registry,
                    "gpufleet_event_hop",
                    "time of an event in one hop of its way to a committed decision",
                    "topic",
                    topic.suffix(),
                    "hop",
                    hop.name().toLowerCase(Locale.ROOT));
        }
    }
}
