package io.gpufleet.nodedaemon.metrics;

/** Labels of a sample as text, without the braces, so that more can be appended. */
final class MetricLabels {
    private final StringBuilder text;

    private MetricLabels(String before) {
        text = new StringBuilder(before);
    }

    static MetricLabels none() {
        return new MetricLabels("");
    }

    /** Starts with labels in text form. */
    static MetricLabels after(String before) {
        return new MetricLabels(before);
    }

    /** Adds a label; an empty value is omitted, which is the same for Prometheus. */
    MetricLabels with(String name, String value) {
        if (!value.isEmpty()) {
            text.append(text.isEmpty() ? "" : ",").append(name).append("=\"");
            PrometheusTextWriter.escape(text, value, true);
            text.append('"');
        }
        return this;
    }

    String text() {
        return text.toString();
    }
}
