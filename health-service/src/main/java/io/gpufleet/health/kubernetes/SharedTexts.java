package io.gpufleet.health.kubernetes;

import java.util.Map;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.Collectors;

/** One object for equal texts of many Nodes: most labels of a fleet are the same. Of a fixed size, so that it remembers what is frequent. */
final class SharedTexts {
    private static final int SIZE = 1 << 13;

    private final AtomicReferenceArray<String> texts = new AtomicReferenceArray<>(SIZE);

    /** A map equal to the given one. */
    Map<String, String> shared(Map<String, String> labels) {
        return labels.entrySet().stream()
                .collect(Collectors.toUnmodifiableMap(
                        label -> shared(label.getKey()), label -> shared(label.getValue())));
    }

    private String shared(String text) {
        int place = Math.floorMod(text.hashCode(), SIZE);
        String known = texts.get(place);
        if (text.equals(known)) {
            return known;
        }
        texts.set(place, text);
        return text;
    }
}
