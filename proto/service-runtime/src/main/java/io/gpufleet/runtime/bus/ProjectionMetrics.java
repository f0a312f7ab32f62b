package io.gpufleet.runtime.bus;

import io.gpufleet.runtime.engine.ProjectionCounters;
import io.gpufleet.runtime.engine.ProjectionEngine;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;

/** Registers every figure of a projection engine. */
public final class ProjectionMetrics {
    private ProjectionMetrics() {}

    /** Figures are read when they are scraped. */
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
    }
}
