package io.gpufleet.compose.bench;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.gpufleet.compose.fleet.Table;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** The figures of one benchmark, in the order of measuring. */
public final class Figures {
    private final List<Figure> figures = new ArrayList<>();

    /** One more. */
    public void add(String name, double value, String unit) {
        figures.add(new Figure(name, value, unit));
    }

    /** Count, P50, P99 and the slowest of a sample. */
    public void addSpread(String name, List<Double> sample, String unit) {
        double[] sorted =
                sample.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        add(name + ".count", sorted.length, "1");
        if (sorted.length > 0) {
            add(name + ".p50", percentile(sorted, 50), unit);
            add(name + ".p99", percentile(sorted, 99), unit);
            add(name + ".max", sorted[sorted.length - 1], unit);
        }
    }

    /** What was measured so far. */
    public List<Figure> all() {
        return List.copyOf(figures);
    }

    /** For people. */
    public String table() {
        var table = new Table("FIGURE", "VALUE", "UNIT");
        figures.forEach(
                figure -> table.row(figure.name(), String.format(Locale.ROOT, "%.1f", figure.value()), figure.unit()));
        return table.render();
    }

    /** For programs: a list of name, value, unit. */
    public String json() {
        try {
            return new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT).writeValueAsString(figures);
        } catch (JsonProcessingException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** The smallest value that so many per cent of the sorted sample do not exceed. */
    static double percentile(double[] sorted, int percent) {
        int rank = (int) Math.ceil(percent / 100.0 * sorted.length);
        return sorted[Math.max(0, Math.min(sorted.length, rank) - 1)];
    }

    /** The middle of a sample; 0 of none. */
    public static double median(double... sample) {
        double[] sorted = Arrays.stream(sample).sorted().toArray();
        return sorted.length == 0 ? 0 : percentile(sorted, 50);
    }
}
