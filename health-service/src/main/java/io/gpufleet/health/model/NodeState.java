package io.gpufleet.health.model;

import java.time.Instant;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The whole machine state of one node; immutable, equal when it means the same.
 *
 * @param node name
 * @param boot boot last heard
 * @param nodeUid UID of the Node object; empty until it was seen
 * @param devices every device that is there or is remembered, by UUID
 * @param episodes open faults of the node itself
 * @param standing what is concluded of the node
 * @param quarantine set while the node is taken out by hand
 * @param hand set while an operator's hand keeps our marks away
 * @param revision of the newest verdict; 0 before the first
 */
public record NodeState(
        String node,
        Boot boot,
        String nodeUid,
        SequencedMap<String, Device> devices,
        SequencedMap<FaultCode, Episode> episodes,
        NodeStanding standing,
        @Nullable Quarantine quarantine,
        @Nullable OperatorHand hand,
        long revision) {
    /** Copies the maps, in the order of their keys. */
    public NodeState {
        devices = new TreeMap<>(devices);
        episodes = Device.Episodes.sorted(episodes.values());
    }

    /**
     * One boot of a node's kernel.
     *
     * @param id boot id; empty until one was heard
     * @param epoch the newest epoch of a daemon heard in it; orders boots
     */
    public record Boot(String id, long epoch) {
        /** Before anything was heard. */
        public static final Boot NONE = new Boot("", 0);
    }

    /** A node of which nothing was heard. */
    public static NodeState unknown(String node, Instant at) {
        return new NodeState(
                node, Boot.NONE, "", new TreeMap<>(), new TreeMap<>(), NodeStanding.healthy(at), null, null, 0);
    }

    /** The device, where anything is known of it. */
    public Optional<Device> device(String uuid) {
        return Optional.ofNullable(devices.get(uuid));
    }

    /** Open faults of the device, or of the node itself where the UUID is empty. */
    public SequencedMap<FaultCode, Episode> episodesOf(String uuid) {
        return uuid.isEmpty() ? episodes : device(uuid).map(Device::episodes).orElseGet(TreeMap::new);
    }

    /** Every open fault of the node and of its devices. */
    public Stream<Episode> allEpisodes() {
        return Stream.concat(
                episodes.values().stream(),
                devices.values().stream().flatMap(device -> device.episodes().values().stream()));
    }

    /** True when something changes by time alone, so that it wants to be asked again. */
    public boolean waits() {
        return hand != null
                || devices.values().stream().anyMatch(device -> device.health() instanceof DeviceHealth.Recovering);
    }
}
