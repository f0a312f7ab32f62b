package io.gpufleet.health.model.budget;

import java.util.Map;

/**
 * Nodes that share a mode and limits.
 *
 * @param name shown in decisions
 * @param selector labels that the Node object has, with these values
 */
public record Pool(String name, Map<String, String> selector, Mode mode, Limits limits) {
    /** Copies the selector. */
    public Pool {
        selector = Map.copyOf(selector);
    }

    boolean selects(Map<String, String> labels) {
        return selector.entrySet().stream().allMatch(entry -> entry.getValue().equals(labels.get(entry.getKey())));
    }
}
