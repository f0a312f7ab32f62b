package io.gpufleet.inventory.model;

import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * What we want to stand on a Node; an empty set asks for the removal of all that we own.
 *
 * @param labels legal label values by key
 * @param annotations the whole text under the same key, where a label had to be shortened or lost characters
 */
public record LabelSet(Map<String, String> labels, Map<String, String> annotations) {
    /** Nothing is wanted. */
    public static final LabelSet NONE = new LabelSet(Map.of(), Map.of());

    /** Copies the maps. */
    public LabelSet {
        labels = Map.copyOf(labels);
        annotations = Map.copyOf(annotations);
    }

    /** The set without some label keys and their annotations. */
    public LabelSet without(Collection<String> keys) {
        var some = new TreeMap<>(labels);
        var explained = new TreeMap<>(annotations);
        some.keySet().removeAll(keys);
        explained.keySet().removeAll(keys);
        return new LabelSet(some, explained);
    }

    /** Collects labels; makes each value legal and keeps the whole text beside a shortened one. */
    static final class Builder {
        private static final Pattern LEGAL_KEY =
                Pattern.compile("([a-z0-9.-]{1,253}/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?");

        private final Map<String, String> labels = new TreeMap<>();
        private final Map<String, String> annotations = new TreeMap<>();

        /** A key that a node's odd words made illegal is left out: one of them would have the whole set refused. */
        Builder put(String key, String text) {
            if (!LEGAL_KEY.matcher(key).matches()) {
                return this;
            }
            String value = LabelValue.legal(text);
            labels.put(key, value);
            annotations.remove(key);
            if (LabelValue.sanitised(text).length() > LabelValue.MAX) {
                annotations.put(key, text);
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
