package io.gpufleet.bench.daemon;

import io.gpufleet.bench.harness.Measurements;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The samples of each plugin, over all rounds. */
final class LatencySamples {
    private record SampleKey(String name, String plugin) {}

    private record SampleValues(String unit, boolean distribution, List<Double> values) {}

    private final Map<SampleKey, SampleValues> samples = new LinkedHashMap<>();

    /** Adds values of a distribution. */
    void addDistribution(String who, String name, String unit, List<Double> values) {
        samples.computeIfAbsent(new SampleKey(name, who), _ -> new SampleValues(unit, true, new ArrayList<>()))
                .values()
                .addAll(values);
    }

    /** Adds the value of a round; the measurement is the median of the rounds. */
    void addValue(String who, String name, String unit, double value) {
        samples.computeIfAbsent(new SampleKey(name, who), _ -> new SampleValues(unit, false, new ArrayList<>()))
                .values()
                .add(value);
    }

    /** True when a round has the value. */
    boolean has(String who, String name) {
        return samples.containsKey(new SampleKey(name, who));
    }

    /** Adds measurements named {@code daemon.<plugin>.<name>}. */
    void addTo(Measurements figures) {
        samples.forEach((key, sample) -> {
            String name = "daemon." + key.plugin() + "." + key.name();
            if (sample.distribution()) {
                figures.addDistribution(name, sample.values(), sample.unit());
            } else {
                double[] values = sample.values().stream()
                        .mapToDouble(Double::doubleValue)
                        .toArray();
                figures.add(name, Measurements.median(values), sample.unit());
            }
        });
    }
}
