package io.gpufleet.health.kafka;

/** Limits for texts of drivers and people, which are not trusted to be short. */
final class TextLimits {
    private static final int MAX_NAME = 128;
    private static final int MAX_TEXT = 512;

    private TextLimits() {}

    /** A name or an id, of at most 128 characters. */
    static String name(String name) {
        return truncate(MAX_NAME, name);
    }

    /** A text for people, of at most 512 characters. */
    static String text(String text) {
        return truncate(MAX_TEXT, text);
    }

    private static String truncate(int length, String text) {
        return text.length() <= length ? text : text.substring(0, length - 1) + "…";
    }
}
