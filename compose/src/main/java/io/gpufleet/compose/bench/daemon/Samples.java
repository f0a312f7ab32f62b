package io.gpufleet.compose.bench.daemon;

import io.gpufleet.compose.bench.Figures;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What was measured of each candidate, over all rounds. */
final class Samples {
    private record Key(String name, String who) {}

    private record Sample(String unit, boolean spread, List<Double> values) {}

    private final Map<Key, Sample> samples = new LinkedHashMap<>();

    /** Values of which middle and tail matter. */
    void spread(String who, String name, String unit, List<Double> values) {
        samples.computeIfAbsent(new Key(name, who), _ -> new Sample(unit, true, new ArrayList<>()))
                .values()
                .addAll(values);
    }

    /** A value of which every round has one; its median is the figure. */
    void value(String who, String name, String unit, double value) {
        samples.computeIfAbsent(new Key(name, who), _ -> new Sample(unit, false, new ArrayList<>()))
                .values()
                .add(value);
    }

    /** Whether a round has it already. */
    boolean has(String who, String name) {
        return samples.containsKey(new Key(name, who));
    }

    /** As {@code daemon.<who>.<name>}. */
    Figures figures() {
        var figures = new Figures();
        samples.forEach((key, sample) -> {
            String name = "daemon." + key.who() + "." + key.name();
            if (sample.spread()) {
                figures.addSpread(name, sample.values(), sample.unit());
            } else {
                double[] values = sample.values().stream()
                        .mapToDouble(Double::doubleValue)
                        .toArray();
                figures.add(name, Figures.median(values), sample.unit());
            }
        });
        return figures;
    }
}
