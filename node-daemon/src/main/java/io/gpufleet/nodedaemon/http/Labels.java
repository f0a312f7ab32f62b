package io.gpufleet.nodedaemon.http;

/** Labels of a sample as text, without the braces, so that more can follow. */
final class Labels {
    private final StringBuilder text;

    private Labels(String before) {
        text = new StringBuilder(before);
    }

    static Labels none() {
        return new Labels("");
    }

    /** Begins with labels that are written already. */
    static Labels after(String before) {
        return new Labels(before);
    }

    /** Adds a label; one without a value is left out, which Prometheus takes for the same. */
    Labels with(String name, String value) {
        if (!value.isEmpty()) {
            text.append(text.isEmpty() ? "" : ",").append(name).append("=\"");
            TextPage.escape(text, value, true);
            text.append('"');
        }
        return this;
    }

    String text() {
        return text.toString();
    }
}
