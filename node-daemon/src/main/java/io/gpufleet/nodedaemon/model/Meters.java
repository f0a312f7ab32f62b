package io.gpufleet.nodedaemon.model;

import java.util.Map;

/** What was read of a GPU or a MIG instance by meter; a meter that was not asked for is unavailable. */
public record Meters(Map<Meter, Reading<Double>> readings) {
    private static final Reading<Double> NOT_ASKED = new Reading.Unavailable<>("not asked for");

    /** Nothing was read. */
    public static final Meters NONE = new Meters(Map.of());

    /** Copies the map. */
    public Meters {
        readings = Map.copyOf(readings);
    }

    /** One reading. */
    public Reading<Double> of(Meter meter) {
        return readings.getOrDefault(meter, NOT_ASKED);
    }
}
