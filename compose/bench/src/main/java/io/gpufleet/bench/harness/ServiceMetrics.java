package io.gpufleet.bench.harness;

import io.gpufleet.cli.fleet.FleetState;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The figures of a service at one time, or the difference of two times.
 *
 * @param values by series: name and labels as scraped
 */
public record ServiceMetrics(Map<String, Double> values) {
    private static final Pattern BUCKET = Pattern.compile("(.*)_bucket\\{(.*?),?le=\"([^\"]+)\"(.*)}");

    /** Reads {@code /metrics} of a process. */
    public static ServiceMetrics scrape(FleetState.FleetProcess process) throws InterruptedException {
        Integer port = process.ports().get("http");
        var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/metrics"))
                .version(HttpClient.Version.HTTP_1_1)
                .timeout(Duration.ofSeconds(10))
                .build();
        try (HttpClient client = HttpClient.newHttpClient()) {
            return parse(
                    client.send(request, HttpResponse.BodyHandlers.ofString()).body());
        } catch (IOException failed) {
            throw new IllegalStateException(process.name() + " shows no metrics", failed);
        }
    }

    /** Reads Prometheus' text format. */
    public static ServiceMetrics parse(String text) {
        Map<String, Double> values = new HashMap<>();
        text.lines().filter(line -> !line.isEmpty() && !line.startsWith("#")).forEach(line -> {
            int space = line.lastIndexOf(' ');
            values.put(line.substring(0, space), Double.parseDouble(line.substring(space + 1)));
        });
        return new ServiceMetrics(values);
    }

    /** Counts since then. */
    public ServiceMetrics since(ServiceMetrics before) {
        Map<String, Double> difference = new HashMap<>();
        values.forEach((series, value) -> difference.put(series, value - before.value(series)));
        return new ServiceMetrics(difference);
    }

    /** Value of a series; 0 where there is none. */
    public double value(String series) {
        return values.getOrDefault(series, 0.0);
    }

    /** Values of a metric above 0 by their labels, as scraped. */
    public Map<String, Double> labelled(String metric) {
        return values.entrySet().stream()
                .filter(series -> series.getKey().startsWith(metric + "{") && series.getValue() > 0)
                .collect(Collectors.toMap(
                        series -> series.getKey()
                                .substring(metric.length() + 1, series.getKey().length() - 1),
                        Map.Entry::getValue));
    }

    /** A percentile of a histogram in milliseconds, linear within its bucket; empty where nothing was measured. */
    public Optional<Double> millis(String histogram, Map<String, String> labels, int percent) {
        TreeMap<Double, Double> buckets = buckets(histogram, labels);
        if (buckets.isEmpty() || buckets.lastEntry().getValue() == 0) {
            return Optional.empty();
        }
        double rank = percent / 100.0 * buckets.lastEntry().getValue();
        double low = 0;
        double below = 0;
        for (Map.Entry<Double, Double> bucket : buckets.entrySet()) {
            double count = bucket.getValue();
            if (count >= rank && count > below) {
                double high = Double.isInfinite(bucket.getKey()) ? low : bucket.getKey();
                return Optional.of(1000 * (low + (high - low) * (rank - below) / (count - below)));
            }
            low = bucket.getKey();
            below = count;
        }
        return Optional.of(1000 * low);
    }

    private TreeMap<Double, Double> buckets(String histogram, Map<String, String> labels) {
        var buckets = new TreeMap<Double, Double>();
        values.forEach((series, value) -> {
            Matcher matcher = BUCKET.matcher(series);
            if (matcher.matches() && matcher.group(1).equals(histogram)) {
                String found = Stream.of(matcher.group(2), matcher.group(4)).collect(Collectors.joining(","));
                boolean all = labels.entrySet().stream()
                        .allMatch(label -> found.contains(label.getKey() + "=\"" + label.getValue() + "\""));
                if (all) {
                    String bound = matcher.group(3);
                    buckets.merge(
                            bound.equals("+Inf") ? Double.POSITIVE_INFINITY : Double.parseDouble(bound),
                            value,
                            Double::sum);
                }
            }
        });
        return buckets;
    }
}
