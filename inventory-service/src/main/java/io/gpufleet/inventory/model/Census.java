package io.gpufleet.inventory.model;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The fleet in numbers.
 *
 * @param nodes announced nodes
 * @param presence nodes by presence
 * @param devices GPUs by health
 * @param models what there is of each model, by product name
 * @param heldDevices device ids that somebody holds
 */
public record Census(
        int nodes, Map<String, Integer> presence, Map<String, Integer> devices, List<Model> models, int heldDevices) {
    /** What there is of one model. */
    public record Model(String model, String shortModel, int nodes, int devices, int healthy) {}

    /** Counts an image. */
    public static Census of(Fleet fleet) {
        var presence = new TreeMap<String, Integer>();
        var devices = new TreeMap<String, Integer>();
        var models = new TreeMap<String, Model>();
        int nodes = 0;
        int held = 0;
        for (NodeImage node : fleet.nodes().values()) {
            if (node.announcement() == null) {
                continue;
            }
            nodes++;
            presence.merge(node.presence() == null ? "unknown" : node.presence().word(), 1, Integer::sum);
            held += node.holders().stream().mapToInt(h -> h.deviceIds().size()).sum();
            node.gpus().forEach(gpu -> devices.merge(node.healthOf(gpu), 1, Integer::sum));
            node.gpus().stream()
                    .map(Gpu::model)
                    .distinct()
                    .forEach(model -> models.merge(model, ofNode(node, model), Census::sum));
        }
        return new Census(nodes, presence, devices, List.copyOf(models.values()), held);
    }

    private static Model ofNode(NodeImage node, String model) {
        List<Gpu> gpus =
                node.gpus().stream().filter(gpu -> gpu.model().equals(model)).toList();
        int healthy = (int) gpus.stream()
                .filter(gpu -> node.healthOf(gpu).equals("healthy"))
                .count();
        return new Model(model, gpus.getFirst().shortModel(), 1, gpus.size(), healthy);
    }

    private static Model sum(Model a, Model b) {
        return new Model(
                a.model(), a.shortModel(), a.nodes() + b.nodes(), a.devices() + b.devices(), a.healthy() + b.healthy());
    }
}
