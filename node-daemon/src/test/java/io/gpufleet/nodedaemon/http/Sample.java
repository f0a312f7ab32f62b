package io.gpufleet.nodedaemon.http;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** One line of a metrics page, read back without regard for what Prometheus allows besides. */
record Sample(String name, Map<String, String> labels, double value) {
    private static final Pattern LABEL = Pattern.compile("(\\w+)=\"((?:[^\"\\\\]|\\\\.)*)\"");

    static List<Sample> of(String page, String name) {
        return page.lines()
                .filter(line -> line.startsWith(name + "{") || line.startsWith(name + " "))
                .map(line -> {
                    var labels = new TreeMap<String, String>();
                    var matcher = LABEL.matcher(line);
                    while (matcher.find()) {
                        labels.put(matcher.group(1), matcher.group(2));
                    }
                    return new Sample(name, labels, Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)));
                })
                .toList();
    }

    String label(String label) {
        return labels.getOrDefault(label, "");
    }
}
