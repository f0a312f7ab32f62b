package io.gpufleet.runtime.projection;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Outputs of an input or of the passing of time; written in one transaction with everything else of its batch.
 *
 * @param states new states by key
 * @param forgotten keys given up: a tombstone on the changelog
 * @param outputs records for the output topics, in order
 */
public record Effects<S>(Map<String, S> states, Set<String> forgotten, List<Outbound> outputs) {
    /** Nothing changes. */
    public static <S> Effects<S> none() {
        return new Effects<>(Map.of(), Set.of(), List.of());
    }

    /** A key has a new state. */
    public static <S> Effects<S> state(String key, S state, List<? extends Outbound> outputs) {
        return new Effects<>(Map.of(key, state), Set.of(), List.copyOf(outputs));
    }

    /** A key is given up. */
    public static <S> Effects<S> forget(String key, List<? extends Outbound> outputs) {
        return new Effects<>(Map.of(), Set.of(key), List.copyOf(outputs));
    }

    /** No state changes, something is published. */
    public static <S> Effects<S> publish(List<? extends Outbound> outputs) {
        return new Effects<>(Map.of(), Set.of(), List.copyOf(outputs));
    }

    /** These effects, then others; of a key that is in both the later state counts. */
    public Effects<S> then(Effects<S> later) {
        if (isEmpty()) {
            return later;
        }
        if (later.isEmpty()) {
            return this;
        }
        Map<String, S> both = new LinkedHashMap<>(states);
        Set<String> gone = new LinkedHashSet<>(forgotten);
        later.forgotten.forEach(both::remove);
        gone.addAll(later.forgotten);
        gone.removeAll(later.states.keySet());
        both.putAll(later.states);
        List<Outbound> all = new ArrayList<>(outputs);
        all.addAll(later.outputs);
        return new Effects<>(both, gone, all);
    }

    /** True when nothing would be written. */
    public boolean isEmpty() {
        return states.isEmpty() && forgotten.isEmpty() && outputs.isEmpty();
    }
}
