package io.gpufleet.bench.harness;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.gpufleet.cli.fleet.TextTable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The measurements of one benchmark, in order. */
public final class Measurements {
    private final List<Measurement> measurements = new ArrayList<>();

    /** Adds a measurement. */
    public void add(String name, double value, String unit) {
        measurements.add(new Measurement(name, value, unit));
    }

    /** Adds count, P50, P99 and maximum of a sample. */
    public void addDistribution(String name, List<Double> sample, String unit) {
        double[] sorted =
                sample.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        add(name + ".count", sorted.length, "1");
        if (sorted.length > 0) {
            add(name + ".p50", percentile(sorted, 50), unit);
            add(name + ".p99", percentile(sorted, 99), unit);
            add(name + ".max", sorted[sorted.length - 1], unit);
        }
    }

    /** Adds P50 and P99 of a histogram of a service in milliseconds; nothing where it is empty. */
    public void addHistogram(String name, ServiceMetrics metrics, String histogram, Map<String, String> labels) {
        for (int percent : new int[] {50, 99}) {
            metrics.millis(histogram, labels, percent).ifPresent(millis -> add(name + ".p" + percent, millis, "ms"));
        }
    }

    /** All measurements so far. */
    public List<Measurement> all() {
        return List.copyOf(measurements);
    }

    /** The table for the terminal. */
    public String table() {
        var table = new TextTable("MEASUREMENT", "VALUE", "UNIT");
        measurements.forEach(measurement -> table.row(
                measurement.name(), String.format(Locale.ROOT, "%.1f", measurement.value()), measurement.unit()));
        return table.render();
    }

    /** JSON: a list of name, value, unit. */
    public String json() {
        try {
            return new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT).writeValueAsString(measurements);
        } catch (JsonProcessingException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** The smallest value that this percentage of the sorted sample does not exceed. */
    static double percentile(double[] sorted, int percent) {
        int rank = (int) Math.ceil(percent / 100.0 * sorted.length);
        return sorted[Math.max(0, Math.min(sorted.length, rank) - 1)];
    }

    /** Median of a sample; 0 of an empty one. */
    public static double median(double... sample) {
        double[] sorted = Arrays.stream(sample).sorted().toArray();
        return sorted.length == 0 ? 0 : percentile(sorted, 50);
    }
}
