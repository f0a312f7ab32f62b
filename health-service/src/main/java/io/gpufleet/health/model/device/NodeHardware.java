package io.gpufleet.health.model.device;

import java.time.Instant;
import java.util.Collections;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * The devices of a node, and those that left it and of which something has to follow them to another node.
 *
 * @param devices that it has or should have, by UUID
 * @param former that another one replaced, by UUID; nothing of the node depends on them
 */
public record NodeHardware(SequencedMap<String, Device> devices, SequencedMap<String, FormerDevice> former) {
    /** No devices. */
    public static final NodeHardware NONE = new NodeHardware(new TreeMap<>(), new TreeMap<>());

    /** Former devices kept; beyond it the oldest is given up that no operator keeps out of service. */
    private static final int MAX_FORMER = 64;

    /**
     * A device that left.
     *
     * @param device as it was last
     * @param since append time of the event by which it left
     */
    public record FormerDevice(Device device, Instant since) {}

    /** Copies the maps, sorted by key; an empty map of former devices is shared, since almost no node has one. */
    public NodeHardware {
        devices = new TreeMap<>(devices);
        former = former.isEmpty() ? Collections.emptySortedMap() : new TreeMap<>(former);
    }

    /** The device, else the one of this UUID that left. */
    public Optional<Device> device(String uuid) {
        return Optional.ofNullable(devices.get(uuid))
                .or(() -> Optional.ofNullable(former.get(uuid)).map(FormerDevice::device));
    }

    /** True for a device that left. */
    public boolean isFormer(String uuid) {
        return former.containsKey(uuid);
    }

    /** All of them, those that left too. */
    public Stream<Device> all() {
        return Stream.concat(devices.values().stream(), former.values().stream().map(FormerDevice::device));
    }

    /** True when an operator keeps one of them out of service. */
    public boolean anyByHand() {
        return all().anyMatch(Device::byHand);
    }

    /** The device with a change, whether it left or not; one that is not known is one of the node. */
    public NodeHardware with(String uuid, Device unknown, UnaryOperator<Device> change) {
        FormerDevice left = former.get(uuid);
        if (left != null) {
            var changed = new TreeMap<>(former);
            changed.put(uuid, new FormerDevice(change.apply(left.device()), left.since()));
            return new NodeHardware(devices, changed);
        }
        var changed = new TreeMap<>(devices);
        changed.put(uuid, change.apply(devices.getOrDefault(uuid, unknown)));
        return new NodeHardware(changed, former);
    }

    /** Without the device, whether it left or not. */
    public NodeHardware without(String uuid) {
        var left = new TreeMap<>(devices);
        left.remove(uuid);
        var others = new TreeMap<>(former);
        others.remove(uuid);
        return new NodeHardware(left, others);
    }

    /** The device that left is one of the node again. */
    public NodeHardware returned(String uuid) {
        FormerDevice left = former.get(uuid);
        if (left == null) {
            return this;
        }
        NodeHardware others = without(uuid);
        var present = new TreeMap<>(others.devices());
        present.put(uuid, left.device());
        return new NodeHardware(present, others.former());
    }

    /** The device is none of the node any more, and is remembered. */
    public NodeHardware departed(String uuid, Instant at) {
        Device device = devices.get(uuid);
        if (device == null) {
            return this;
        }
        var left = new TreeMap<>(devices);
        left.remove(uuid);
        var remembered = new TreeMap<>(former);
        remembered.put(uuid, new FormerDevice(device, at));
        if (remembered.size() > MAX_FORMER) {
            remembered.entrySet().stream()
                    .filter(other -> !other.getValue().device().byHand())
                    .min(Comparator.comparing((Map.Entry<String, FormerDevice> other) ->
                            other.getValue().since()))
                    .map(Map.Entry::getKey)
                    .ifPresent(remembered::remove);
        }
        return new NodeHardware(left, remembered);
    }
}
