package io.gpufleet.inventory.model;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The state of all nodes at one moment, with an index of their devices; immutable, so that any thread may read it.
 *
 * @param nodes every known node, by name
 * @param nodesByDevice names of the nodes that announced a device, sorted, by UUID of the GPU or MIG instance; more than
 *     one when a board was moved and its old node has not announced since
 */
public record Fleet(ImmutableTreeMap<NodeState> nodes, ImmutableTreeMap<List<String>> nodesByDevice) {
    /** No nodes. */
    public static final Fleet EMPTY = new Fleet(ImmutableTreeMap.empty(), ImmutableTreeMap.empty());

    /** A GPU and the node that has it. */
    public record GpuLocation(NodeState node, Gpu gpu) {}

    /** A device and the name of a node that announced it. */
    private record AnnouncedDevice(String id, List<String> node) {}

    /** The fleet of these nodes, of each name one. */
    public static Fleet of(Collection<NodeState> nodes) {
        NodeState[] sorted = nodes.toArray(NodeState[]::new);
        Arrays.parallelSort(sorted, Comparator.comparing(NodeState::name));
        List<NodeState> all = List.of(sorted);
        return new Fleet(
                ImmutableTreeMap.ofSorted(all.stream().map(NodeState::name).toList(), all), devicesOf(all));
    }

    private static ImmutableTreeMap<List<String>> devicesOf(List<NodeState> nodes) {
        List<AnnouncedDevice> announced = new ArrayList<>();
        for (NodeState node : nodes) {
            List<String> name = List.of(node.name());
            node.gpus().forEach(gpu -> gpu.deviceIds().forEach(id -> announced.add(new AnnouncedDevice(id, name))));
        }
        AnnouncedDevice[] sorted = announced.toArray(AnnouncedDevice[]::new);
        Arrays.parallelSort(sorted, Comparator.comparing(AnnouncedDevice::id));
        List<String> ids = new ArrayList<>(sorted.length);
        List<List<String>> names = new ArrayList<>(sorted.length);
        for (AnnouncedDevice device : sorted) {
            if (!ids.isEmpty() && ids.getLast().equals(device.id())) {
                names.set(
                        names.size() - 1, sorted(names.getLast(), device.node().getFirst()));
            } else {
                ids.add(device.id());
                names.add(device.node());
            }
        }
        return ImmutableTreeMap.ofSorted(ids, names);
    }

    /** A node, if it is known. */
    public Optional<NodeState> node(String name) {
        return nodes.get(name);
    }

    /** A node, or one of which only the name is known. */
    public NodeState nodeOrUnknown(String name) {
        return nodes.get(name).orElseGet(() -> NodeState.unknown(name));
    }

    /** The GPU with that UUID or with a MIG instance of that UUID; from the newest announcement, where nodes disagree. */
    public Optional<GpuLocation> device(String uuid) {
        return nodesByDevice
                .get(uuid)
                .flatMap(names -> names.size() == 1 ? node(names.getFirst()) : lastToAnnounce(names))
                .flatMap(node -> node.gpu(uuid).map(gpu -> new GpuLocation(node, gpu)));
    }

    private Optional<NodeState> lastToAnnounce(List<String> names) {
        return names.stream()
                .flatMap(name -> node(name).stream())
                .max(Comparator.comparing((NodeState node) -> node.lastAnnouncement()
                                .map(Announcement::appendedAt)
                                .orElse(Instant.MIN))
                        .thenComparing(NodeState::name));
    }

    /** Whether a GPU of a node is there: no other node has announced it since. */
    public boolean isAt(Gpu gpu, NodeState node) {
        return nodesByDevice.get(gpu.uuid()).stream().allMatch(names -> names.size() == 1)
                || device(gpu.uuid())
                        .filter(location -> location.node().name().equals(node.name()))
                        .isPresent();
    }

    /** The fleet with this state of a node. */
    public Fleet with(NodeState node) {
        NodeState before = nodeOrUnknown(node.name());
        ImmutableTreeMap<List<String>> devices = before.gpus().equals(node.gpus())
                ? nodesByDevice
                : withDevicesOf(withoutDevicesOf(nodesByDevice, before), node);
        return new Fleet(nodes.with(node.name(), node), devices);
    }

    /** The fleet without a node. */
    public Fleet without(String name) {
        return node(name)
                .map(node -> new Fleet(nodes.without(name), withoutDevicesOf(nodesByDevice, node)))
                .orElse(this);
    }

    private static ImmutableTreeMap<List<String>> withDevicesOf(
            ImmutableTreeMap<List<String>> devices, NodeState node) {
        List<String> alone = List.of(node.name());
        for (Gpu gpu : node.gpus()) {
            for (String id : gpu.deviceIds()) {
                Optional<List<String>> others = devices.get(id);
                devices = devices.with(id, others.isEmpty() ? alone : sorted(others.orElseThrow(), node.name()));
            }
        }
        return devices;
    }

    private static List<String> sorted(List<String> names, String another) {
        return Stream.concat(names.stream(), Stream.of(another))
                .sorted()
                .distinct()
                .toList();
    }

    private static ImmutableTreeMap<List<String>> withoutDevicesOf(
            ImmutableTreeMap<List<String>> devices, NodeState node) {
        for (Gpu gpu : node.gpus()) {
            for (String id : gpu.deviceIds()) {
                List<String> others = devices.get(id).stream()
                        .flatMap(List::stream)
                        .filter(name -> !name.equals(node.name()))
                        .toList();
                devices = others.isEmpty() ? devices.without(id) : devices.with(id, others);
            }
        }
        return devices;
    }
}
