package io.gpufleet.inventory.model.query;

import io.gpufleet.inventory.model.Fleet;
import io.gpufleet.inventory.model.Gpu;
import io.gpufleet.inventory.model.NodeState;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Counts of nodes, devices and models.
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
    /** Counts of one model; {@code nodes} have at least one GPU of it. */
    public record ModelSummary(String model, String shortModel, int nodes, int devices, int healthy) {}

    /** Counts a fleet. */
    public static FleetSummary of(Fleet fleet) {
        var presence = new TreeMap<String, Integer>();
        var devices = new TreeMap<String, Integer>();
        var models = new TreeMap<String, ModelSummary>();
        int nodes = 0;
        int held = 0;
        for (NodeState node : fleet.nodes().values()) {
            if (node.announcement() == null) {
                continue;
            }
            nodes++;
            presence.merge(node.presence() == null ? "unknown" : node.presence().stateName(), 1, Integer::sum);
            held += node.holders().stream()
                    .mapToInt(holder -> holder.deviceIds().size())
                    .sum();
            node.gpus().forEach(gpu -> devices.merge(node.healthOf(gpu), 1, Integer::sum));
            node.gpus().stream()
                    .map(Gpu::model)
                    .distinct()
                    .forEach(model -> models.merge(model, countsOf(node, model), FleetSummary::sum));
        }
        return new FleetSummary(nodes, presence, devices, List.copyOf(models.values()), held);
    }

    private static ModelSummary countsOf(NodeState node, String model) {
        List<Gpu> gpus =
                node.gpus().stream().filter(gpu -> gpu.model().equals(model)).toList();
        int healthy = (int) gpus.stream()
                .filter(gpu -> node.healthOf(gpu).equals("healthy"))
                .count();
        return new ModelSummary(model, gpus.getFirst().product().shortModel(), 1, gpus.size(), healthy);
    }

    private static ModelSummary sum(ModelSummary a, ModelSummary b) {
        return new ModelSummary(
                a.model(), a.shortModel(), a.nodes() + b.nodes(), a.devices() + b.devices(), a.healthy() + b.healthy());
    }
}
