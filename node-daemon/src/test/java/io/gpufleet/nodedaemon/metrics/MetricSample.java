package io.gpufleet.nodedaemon.metrics;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** One line of a metrics page, parsed in the form in which the daemon writes it. */
record MetricSample(String name, Map<String, String> labels, double value) {
    private static final Pattern LABEL = Pattern.compile("(\\w+)=\"((?:[^\"\\\\]|\\\\.)*)\"");

    static List<MetricSample> of(String page, String name) {
        return page.lines()
                .filter(line -> line.startsWith(name + "{") || line.startsWith(name + " "))
                .map(line -> {
                    var labels = new TreeMap<String, String>();
                    var matcher = LABEL.matcher(line);
                    while (matcher.find()) {
                        labels.put(matcher.group(1), matcher.group(2));
                    }
                    return new MetricSample(
                            name, labels, Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)));
                })
                .toList();
    }

    String label(String label) {
        return labels.getOrDefault(label, "");
    }
}
