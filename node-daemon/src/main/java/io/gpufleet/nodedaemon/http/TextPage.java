package io.gpufleet.nodedaemon.http;

import io.gpufleet.nodedaemon.app.Latencies;

/** Prometheus' text format, version 0.0.4. */
final class TextPage {
    private final StringBuilder page;

    TextPage(int roughly) {
        page = new StringBuilder(roughly);
    }

    /** Begins a family: all its samples come next, and no other family has its name. */
    void family(String name, String type, String help) {
        page.append("# HELP ").append(name).append(' ');
        escape(page, help, false);
        page.append("\n# TYPE ").append(name).append(' ').append(type).append('\n');
    }

    /** One sample; labels as {@link Labels} writes them. */
    void sample(String name, String labels, double value) {
        page.append(name);
        if (!labels.isEmpty()) {
            page.append('{').append(labels).append('}');
        }
        page.append(' ');
        number(value);
        page.append('\n');
    }

    /** A histogram of seconds; the family is begun already. */
    void histogram(String name, String labels, Latencies.Histogram histogram) {
        String before = labels.isEmpty() ? "" : labels + ',';
        for (Latencies.Bucket bucket : histogram.buckets()) {
            String bound = Double.isInfinite(bucket.seconds()) ? "+Inf" : Double.toString(bucket.seconds());
            sample(name + "_bucket", before + "le=\"" + bound + '"', bucket.atMost());
        }
        sample(name + "_sum", labels, histogram.sumSeconds());
        sample(name + "_count", labels, histogram.count());
    }

    String text() {
        return page.toString();
    }

    private void number(double value) {
        long whole = (long) value;
        if (whole == value) {
            page.append(whole);
        } else {
            page.append(value);
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
