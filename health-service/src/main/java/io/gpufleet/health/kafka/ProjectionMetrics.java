package io.gpufleet.health.kafka;

import io.gpufleet.health.app.MetricRegistrar;
import io.gpufleet.wire.projection.ProjectionEngine;
import io.gpufleet.wire.projection.ProjectionMeter;

/** Metrics of the projection engine. */
public final class ProjectionMetrics {
    private ProjectionMetrics() {}

    /** Registers every meter of the engine. */
    public static void register(ProjectionEngine engine, MetricRegistrar metrics) {
        for (ProjectionMeter meter : ProjectionMeter.ALL) {
            if (meter.monotonic()) {
                metrics.counter(meter.name(), meter.description(), engine, meter.reader()::applyAsLong);
            } else {
                metrics.gauge(meter.name(), meter.description(), engine, meter.reader()::applyAsLong);
            }
        }
    }
}
