package io.gpufleet.inventory.app;

import io.gpufleet.inventory.model.Fleet;
import io.gpufleet.inventory.model.Gpu;
import io.gpufleet.inventory.model.NodeState;
import io.gpufleet.inventory.model.query.FleetSummary;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Counts of the announced nodes and their GPUs, kept up with each commit: counting 100,000 nodes anew takes a good part of a
 * second. Thread-safe.
 */
public final class FleetCounts {
    /** Counts of one model. */
    private static final class ModelCounts {
        private final Map<String, Integer> devicesByNode = new HashMap<>();
        private String shortModel = "";
        private int devices;
        private int healthy;

        FleetSummary.ModelSummary summary(String model) {
            return new FleetSummary.ModelSummary(model, shortModel, devicesByNode.size(), devices, healthy);
        }
    }

    private final Map<String, Integer> presence = new TreeMap<>();
    private final Map<String, Integer> devices = new TreeMap<>();
    private final Map<String, ModelCounts> models = new TreeMap<>();
    private int nodes;
    private int heldDevices;

    /** The counts at this moment. */
    public synchronized FleetSummary summary() {
        List<FleetSummary.ModelSummary> byModel = models.entrySet().stream()
                .map(entry -> entry.getValue().summary(entry.getKey()))
                .toList();
        return new FleetSummary(nodes, Map.copyOf(presence), Map.copyOf(devices), byModel, heldDevices);
    }

    synchronized void clear() {
        presence.clear();
        devices.clear();
        models.clear();
        nodes = 0;
        heldDevices = 0;
    }

    /** Counts all nodes of a fleet. */
    synchronized void count(Fleet fleet) {
        clear();
        for (NodeState node : fleet.nodes().values()) {
            addNode(node, 1);
            for (Gpu gpu : node.gpus()) {
                if (fleet.isAt(gpu, node)) {
                    addDevice(new Fleet.GpuLocation(node, gpu), 1);
                }
            }
        }
    }

    /** A node changed between two fleets; it is unknown in a fleet that lacks it. */
    synchronized void changed(String name, Fleet before, Fleet after) {
        NodeState old = before.nodeOrUnknown(name);
        NodeState now = after.nodeOrUnknown(name);
        addNode(old, -1);
        addNode(now, 1);
        if (old.announcement() == now.announcement() && old.verdicts() == now.verdicts()) {
            return;
        }
        // A GPU that came or went may be announced by another node as well, where it counts no more or counts again.
        Stream.concat(old.gpus().stream(), now.gpus().stream())
                .map(Gpu::uuid)
                .collect(Collectors.toSet())
                .forEach(uuid -> {
                    before.device(uuid).ifPresent(location -> addDevice(location, -1));
                    after.device(uuid).ifPresent(location -> addDevice(location, 1));
                });
    }

    private void addNode(NodeState node, int number) {
        if (node.announcement() == null) {
            return;
        }
        nodes += number;
        heldDevices += number
                * node.holders().stream()
                        .mapToInt(holder -> holder.deviceIds().size())
                        .sum();
        node.livePresence().ifPresent(it -> add(presence, it.stateName(), number));
    }

    private void addDevice(Fleet.GpuLocation location, int number) {
        Gpu gpu = location.gpu();
        String health = location.node().healthOf(gpu);
        add(devices, health, number);
        ModelCounts model = models.computeIfAbsent(gpu.model(), _ -> new ModelCounts());
        model.shortModel = gpu.product().shortModel();
        model.devices += number;
        model.healthy += health.equals("healthy") ? number : 0;
        add(model.devicesByNode, location.node().name(), number);
        if (model.devices == 0) {
            models.remove(gpu.model());
        }
    }

    private static void add(Map<String, Integer> counts, String name, int number) {
        // A count of zero is removed, as a value that no node has is not shown.
        counts.merge(name, number, (one, other) -> one + other == 0 ? null : Integer.valueOf(one + other));
    }
}
