package io.gpufleet.inventory.model.label;

import java.util.Locale;
import java.util.regex.Pattern;

/** Texts as valid label values: at most 63 of {@code [A-Za-z0-9-_.]}, a letter or digit at both ends, or empty. */
public final class LabelValue {
    /** Maximum length in Kubernetes. */
    public static final int MAX = 63;

    private static final Pattern DROPPED = Pattern.compile("[^A-Za-z0-9-_. ]");
    private static final Pattern SPACES = Pattern.compile("[ ]+");
    private static final Pattern EDGES = Pattern.compile("^[-_.]+|[-_.]+$");

    private LabelValue() {}

    /** A product name as GPU feature discovery writes it: invalid characters dropped, blanks replaced by dashes. */
    public static String sanitised(String text) {
        String kept =
                DROPPED.matcher(text.replaceAll("\\s", " ")).replaceAll("").strip();
        return SPACES.matcher(kept).replaceAll("-");
    }

    /** The text with dashes for its blanks: a value that differs from this has lost more than blanks. */
    static String dashed(String text) {
        return text.strip().replaceAll("\\s+", "-");
    }

    /** A valid value for a text; one that is too long is cut and ends with a hash of the full text. */
    public static String valid(String text) {
        String clean = trimmed(sanitised(text));
        if (clean.length() <= MAX) {
            return clean;
        }
        String tail = String.format(Locale.ROOT, "-%08x", text.hashCode());
        return trimmed(clean.substring(0, MAX - tail.length())) + tail;
    }

    private static String trimmed(String text) {
        return EDGES.matcher(text).replaceAll("");
    }
}
