package io.gpufleet.inventory.model;

import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/**
 * Verdicts of the health-service on a node and its devices.
 *
 * @param node state name in lower case; {@value #TRUSTED} when there is no verdict
 * @param devices state names of the devices that have a verdict, by GPU UUID
 */
public record Verdicts(String node, Map<String, String> devices) {
    /** State name of a node without a verdict. */
    public static final String TRUSTED = "trusted";

    /** No verdicts. */
    public static final Verdicts NONE = new Verdicts(TRUSTED, Map.of());

    /** Copies the map, sorted, so that equal verdicts have equal bytes on the log. */
    public Verdicts {
        devices = Collections.unmodifiableMap(new TreeMap<>(devices));
    }
}
