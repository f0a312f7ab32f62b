package io.gpufleet.nodedaemon.metrics;

import io.gpufleet.nodedaemon.app.counters.LatencyHistogram;

/** Writes Prometheus' text exposition format, version 0.0.4. */
final class PrometheusTextWriter {
    private final StringBuilder output;

    PrometheusTextWriter(int capacity) {
        output = new StringBuilder(capacity);
    }

    /** Starts a metric family; all its samples must follow, and the name must be unique. */
    void family(String name, String type, String help) {
        output.append("# HELP ").append(name).append(' ');
        escape(output, help, false);
        output.append("\n# TYPE ").append(name).append(' ').append(type).append('\n');
    }

    /** Writes a sample; labels in the form of {@link MetricLabels}. */
    void sample(String name, String labels, double value) {
        output.append(name);
        if (!labels.isEmpty()) {
            output.append('{').append(labels).append('}');
        }
        output.append(' ');
        number(value);
        output.append('\n');
    }

    /** Writes a histogram in seconds; its family is already started. */
    void histogram(String name, String labels, LatencyHistogram.Snapshot histogram) {
        String before = labels.isEmpty() ? "" : labels + ',';
        for (LatencyHistogram.Bucket bucket : histogram.buckets()) {
            String bound = Double.isInfinite(bucket.seconds()) ? "+Inf" : Double.toString(bucket.seconds());
            sample(name + "_bucket", before + "le=\"" + bound + '"', bucket.atMost());
        }
        sample(name + "_sum", labels, histogram.sumSeconds());
        sample(name + "_count", labels, histogram.count());
    }

    String text() {
        return output.toString();
    }

    private void number(double value) {
        long whole = (long) value;
        if (whole == value) {
            output.append(whole);
        } else {
            output.append(value);
        }
    }

    static void escape(StringBuilder to, String text, boolean quoted) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '\\' -> to.append("\\\\");
                case '\n' -> to.append("\\n");
                case '"' -> to.append(quoted ? "\\\"" : "\"");
                default -> to.append(c);
            }
        }
    }
}
