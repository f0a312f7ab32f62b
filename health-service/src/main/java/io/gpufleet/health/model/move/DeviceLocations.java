package io.gpufleet.health.model.move;

import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.device.Device;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Where the devices are, or were, of which something has to follow them to another node; one thread uses it. */
public final class DeviceLocations {
    private final Map<String, Set<String>> devicesByNode = new HashMap<>();
    private final Map<String, Set<String>> nodesByDevice = new HashMap<>();

    /** Forgets every device. */
    public void clear() {
        devicesByNode.clear();
        nodesByDevice.clear();
    }

    /** The node is in this state. */
    public void put(NodeState state) {
        String node = state.node().name();
        if (nothingFollows(state)) {
            remove(node);
            return;
        }
        Set<String> devices = state.hardware()
                .all()
                .filter(Device::follows)
                .map(Device::uuid)
                .collect(Collectors.toCollection(TreeSet::new));
        if (devices.equals(devicesByNode.getOrDefault(node, Set.of()))) {
            return;
        }
        remove(node);
        if (!devices.isEmpty()) {
            devicesByNode.put(node, devices);
            devices.forEach(device ->
                    nodesByDevice.computeIfAbsent(device, _ -> new TreeSet<>()).add(node));
        }
    }

    /** As of most nodes; a plain loop, since this runs for every event. */
    private static boolean nothingFollows(NodeState state) {
        if (!state.hardware().former().isEmpty()) {
            return false;
        }
        for (Device device : state.devices().values()) {
            if (device.follows()) {
                return false;
            }
        }
        return true;
    }

    /** The node is forgotten. */
    public void remove(String node) {
        Set<String> devices = devicesByNode.remove(node);
        if (devices != null) {
            devices.forEach(device -> {
                Set<String> nodes = nodesByDevice.getOrDefault(device, Set.of());
                if (nodes.size() == 1) {
                    nodesByDevice.remove(device);
                } else {
                    nodes.remove(node);
                }
            });
        }
    }

    /** The other nodes that remember something of the device. */
    public List<String> elsewhere(String device, String node) {
        return nodesByDevice.getOrDefault(device, Set.of()).stream()
                .filter(known -> !known.equals(node))
                .toList();
    }

    /** The devices of which the node remembers something. */
    public Set<String> rememberedBy(String node) {
        return Set.copyOf(devicesByNode.getOrDefault(node, Set.of()));
    }
}
