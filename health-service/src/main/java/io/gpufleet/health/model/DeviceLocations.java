package io.gpufleet.health.model;

import io.gpufleet.health.model.device.Device;
import io.gpufleet.health.model.device.DeviceHealth;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** Where the devices are of which something has to follow them to another node; one thread uses it. */
public final class DeviceLocations {
    private final Map<String, Set<String>> devicesByNode = new HashMap<>();
    private final Map<String, String> nodeByDevice = new HashMap<>();

    /** Forgets every device. */
    public void clear() {
        devicesByNode.clear();
        nodeByDevice.clear();
    }

    /** The node is in this state. */
    public void put(NodeState state) {
        String node = state.node().name();
        Set<String> devices = state.devices().values().stream()
                .filter(DeviceLocations::follows)
                .map(Device::uuid)
                .collect(Collectors.toSet());
        if (devices.isEmpty() && !devicesByNode.containsKey(node)) {
            return;
        }
        remove(node);
        if (!devices.isEmpty()) {
            devicesByNode.put(node, new HashSet<>(devices));
            devices.forEach(device -> nodeByDevice.put(device, node));
        }
    }

    /** The node is forgotten. */
    public void remove(String node) {
        Set<String> devices = devicesByNode.remove(node);
        if (devices != null) {
            devices.forEach(device -> nodeByDevice.remove(device, node));
        }
    }

    /** Another node that remembers something of the device. */
    public Optional<String> elsewhere(String device, String node) {
        return Optional.ofNullable(nodeByDevice.get(device)).filter(known -> !known.equals(node));
    }

    /** What operators keep out of service, and what was tried to repair it. */
    private static boolean follows(Device device) {
        return !device.history().attempts().isEmpty()
                || device.health() instanceof DeviceHealth.Quarantined
                || device.health() instanceof DeviceHealth.Retired;
    }
}
