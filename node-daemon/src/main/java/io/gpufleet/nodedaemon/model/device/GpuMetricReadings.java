package io.gpufleet.nodedaemon.model.device;

import java.util.Map;

/** Readings of a GPU or a MIG instance by metric; a metric that was not read is unavailable. */
public record GpuMetricReadings(Map<GpuMetric, Reading<Double>> readings) {
    private static final Reading<Double> NOT_READ = new Reading.Unavailable<>("not read");

    /** No readings. */
    public static final GpuMetricReadings NONE = new GpuMetricReadings(Map.of());

    /** Copies the map. */
    public GpuMetricReadings {
        readings = Map.copyOf(readings);
    }

    /** Returns one reading. */
    public Reading<Double> of(GpuMetric metric) {
        return readings.getOrDefault(metric, NOT_READ);
    }
}
