package io.gpufleet.inventory.model;

import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/**
 * What the health-service concluded about a node.
 *
 * @param node state name in lower case; {@value #TRUSTED} when there is no verdict
 * @param devices state names of the devices that have a verdict, by GPU UUID
 */
public record Verdicts(String node, Map<String, String> devices) {
    /** The word for what nobody doubts. */
    public static final String TRUSTED = "trusted";

    /** No verdict at all. */
    public static final Verdicts NONE = new Verdicts(TRUSTED, Map.of());

    /** Copies the map, sorted, so that the same verdicts have the same bytes on the log. */
    public Verdicts {
        devices = Collections.unmodifiableMap(new TreeMap<>(devices));
    }
}
