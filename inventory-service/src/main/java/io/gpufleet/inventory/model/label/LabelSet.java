package io.gpufleet.inventory.model.label;

import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * Desired labels of a Node; an empty set removes all labels that this service owns.
 *
 * @param labels valid label values by key
 * @param annotations full text of the shortened and altered label values, by the key of the label
 */
public record LabelSet(Map<String, String> labels, Map<String, String> annotations) {
    /** No labels. */
    public static final LabelSet NONE = new LabelSet(Map.of(), Map.of());

    /** Copies the maps. */
    public LabelSet {
        labels = Map.copyOf(labels);
        annotations = Map.copyOf(annotations);
    }

    /** The set without these label keys and their annotations. */
    public LabelSet without(Collection<String> keys) {
        var otherLabels = new TreeMap<>(labels);
        var otherAnnotations = new TreeMap<>(annotations);
        otherLabels.keySet().removeAll(keys);
        otherAnnotations.keySet().removeAll(keys);
        return new LabelSet(otherLabels, otherAnnotations);
    }

    /** Collects labels; makes each value valid and annotates the full text of a shortened or altered one. */
    static final class Builder {
        private static final Pattern VALID_KEY =
                Pattern.compile("([a-z0-9.-]{1,253}/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?");

        private final Map<String, String> labels = new TreeMap<>();
        private final Map<String, String> annotations = new TreeMap<>();

        /** An invalid key, made from a text of the node, is omitted: the API server would reject the whole set. */
        Builder put(String key, String text) {
            return put(key, text, text);
        }

        /** Puts a text that was made of {@code full}. */
        Builder put(String key, String text, String full) {
            if (!VALID_KEY.matcher(key).matches()) {
                return this;
            }
            String value = LabelValue.valid(text);
            labels.put(key, value);
            annotations.remove(key);
            if (!value.equals(LabelValue.dashed(full))) {
                annotations.put(key, full);
            }
            return this;
        }

        Builder put(String key, long number) {
            return put(key, Long.toString(number));
        }

        LabelSet build() {
            return new LabelSet(labels, annotations);
        }
    }
}
