package io.gpufleet.health.model.move;

import io.gpufleet.health.model.HealthSignal;
import io.gpufleet.health.model.HealthSignal.AnnouncedDevice;
import io.gpufleet.health.model.HealthSignal.DeviceArrived;
import io.gpufleet.health.model.HealthSignal.DeviceLeft;
import io.gpufleet.health.model.HealthSignal.DevicesAnnounced;
import io.gpufleet.health.model.NodeReference;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.device.Device;
import io.gpufleet.health.model.presence.Presence;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Moves that an announcement shows: of devices of which another node remembers something. Where a device arrives, it is known from
 * then on what the other node knows. That one forgets it as soon as it does not list the device itself, or is not heard: until
 * then both claim the same UUID, and it is out of service on both.
 */
public final class DeviceMoves {
    private final DeviceLocations locations;
    private final Function<String, Optional<NodeState>> states;
    private final String node;
    private final DevicesAnnounced announced;
    private final List<NodeSignal> signals = new ArrayList<>();

    /**
     * Moves of which an announcement tells.
     *
     * @param states by the name of the node
     * @param node that announces
     */
    public DeviceMoves(
            DeviceLocations locations,
            Function<String, Optional<NodeState>> states,
            String node,
            DevicesAnnounced announced) {
        this.locations = locations;
        this.states = states;
        this.node = node;
        this.announced = announced;
    }

    /** A signal to another node than the announcing one, or to that one. */
    public record NodeSignal(String node, HealthSignal signal) {}

    /**
     * A UUID that two nodes list, both of which are heard.
     *
     * @param node that announced it again
     */
    public record TwoClaims(String uuid, String node, String other) {}

    /**
     * Signals to be decided before the announcement itself: what came to the node.
     *
     * @param claims told of each UUID that the node has announced before and another one still lists
     */
    public List<NodeSignal> before(Consumer<TwoClaims> claims) {
        for (AnnouncedDevice device : announced.devices()) {
            if (!device.lost()) {
                locations.elsewhere(device.uuid(), node).forEach(other -> came(device.uuid(), other, claims));
            }
        }
        return List.copyOf(signals);
    }

    private void came(String uuid, String other, Consumer<TwoClaims> claims) {
        boolean arrives = !lists(node, uuid);
        boolean left = !lists(other, uuid)
                || !states.apply(other).map(DeviceMoves::isHeard).orElse(false);
        if (arrives || left) {
            move(uuid, other, node, left);
        } else {
            claims.accept(new TwoClaims(uuid, node, other));
        }
    }

    /** Signals to be decided after the announcement itself: what another node announced before this one missed it. */
    public List<NodeSignal> after() {
        Set<String> listed =
                announced.devices().stream().map(AnnouncedDevice::uuid).collect(Collectors.toSet());
        if (announced.knowledge().driverResponds()) {
            locations.rememberedBy(node).stream()
                    .filter(uuid -> !listed.contains(uuid))
                    .forEach(this::left);
        }
        return List.copyOf(signals);
    }

    private void left(String uuid) {
        locations.elsewhere(uuid, node).stream()
                .filter(other -> lists(other, uuid))
                .findFirst()
                .ifPresent(other -> move(uuid, node, other, true));
    }

    private void move(String uuid, String from, String to, boolean left) {
        Optional<Device> known = states.apply(from).flatMap(state -> state.device(uuid));
        if (left) {
            signals.add(new NodeSignal(from, new DeviceLeft(announced.metadata(), uuid)));
        }
        known.ifPresent(device -> signals.add(new NodeSignal(to, new DeviceArrived(announced.metadata(), device))));
    }

    private boolean lists(String other, String uuid) {
        return states.apply(other)
                .map(state -> state.devices().get(uuid))
                .filter(Device::listed)
                .isPresent();
    }

    private static boolean isHeard(NodeState state) {
        NodeReference reference = state.node();
        return reference.goneSince() == null
                && reference.presence().daemon() == Presence.Daemon.HEARD
                && (reference.placement().ready() || !reference.placement().observed());
    }
}
