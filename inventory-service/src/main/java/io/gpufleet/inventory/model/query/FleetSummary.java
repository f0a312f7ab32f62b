package io.gpufleet.inventory.model.query;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Counts of nodes, devices and models. A GPU that several nodes announced counts where it was announced last.
 *
 * @param nodes announced nodes
 * @param presence nodes by presence
 * @param devices GPUs by health
 * @param models counts by model, in the order of the product names
 * @param heldDevices number of device ids allocated to containers
 */
public record FleetSummary(
        int nodes,
        Map<String, Integer> presence,
        Map<String, Integer> devices,
        List<ModelSummary> models,
        int heldDevices) {
    /** Name of the presence of nodes that are silent and not declared lost. */
    public static final String SUSPECTED = "suspected";

    private static final String PRESENT = "present";

    /** Counts of one model; {@code nodes} have at least one GPU of it. */
    public record ModelSummary(String model, String shortModel, int nodes, int devices, int healthy) {}

    /** The counts with so many of the present nodes as suspected ones. */
    public FleetSummary suspecting(int suspected) {
        int moved = Math.min(suspected, presence.getOrDefault(PRESENT, 0));
        if (moved == 0) {
            return this;
        }
        var apart = new TreeMap<>(presence);
        apart.merge(PRESENT, -moved, (one, other) -> one + other == 0 ? null : Integer.valueOf(one + other));
        apart.put(SUSPECTED, moved);
        return new FleetSummary(nodes, apart, devices, models, heldDevices);
    }
}
