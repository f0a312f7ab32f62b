package io.gpufleet.health.model;

import io.gpufleet.health.model.device.Device;
import io.gpufleet.health.model.device.DeviceHealth;
import io.gpufleet.health.model.fault.Episode;
import io.gpufleet.health.model.fault.FaultCode;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The complete state of one node; immutable.
 *
 * @param node name and UID of the Node object
 * @param boot boot of the newest daemon event
 * @param devices every announced or remembered device, by UUID
 * @param episodes open faults of the node itself
 * @param health health of the node as a whole
 * @param quarantine set while an operator keeps the node out of service
 * @param override set while a manual override keeps our taint away
 * @param revision revision of the newest verdict, or of the first observation of the Node object; 0 before both
 */
public record NodeState(
        NodeReference node,
        Boot boot,
        SequencedMap<String, Device> devices,
        SequencedMap<FaultCode, Episode> episodes,
        NodeHealth health,
        @Nullable Quarantine quarantine,
        @Nullable ManualOverride override,
        long revision) {
    /** How long a node is remembered of which nothing is left. */
    public static final Duration FORGET_AFTER = Duration.ofDays(30);

    /** Copies the maps, sorted by key. */
    public NodeState {
        devices = new TreeMap<>(devices);
        episodes = Episode.byCode(episodes.values());
    }

    /**
     * One boot of a node's kernel.
     *
     * @param id boot id; empty before the first daemon event
     * @param epoch newest incarnation of a daemon in this boot; orders boots
     */
    public record Boot(String id, long epoch) {
        /** Before the first daemon event. */
        public static final Boot NONE = new Boot("", 0);
    }

    /** State of a node before its first event. */
    public static NodeState unknown(String node, Instant at) {
        return new NodeState(
                new NodeReference(node, ""),
                Boot.NONE,
                new TreeMap<>(),
                new TreeMap<>(),
                NodeHealth.healthy(at),
                null,
                null,
                0);
    }

    /** The device; empty when nothing is known about it. */
    public Optional<Device> device(String uuid) {
        return Optional.ofNullable(devices.get(uuid));
    }

    /** Open faults of the device, or of the node itself when the UUID is empty. */
    public SequencedMap<FaultCode, Episode> episodesOf(String uuid) {
        return uuid.isEmpty() ? episodes : device(uuid).map(Device::episodes).orElseGet(TreeMap::new);
    }

    /** Every open fault of the node and of its devices. */
    public Stream<Episode> allEpisodes() {
        return Stream.concat(
                episodes.values().stream(),
                devices.values().stream().flatMap(device -> device.episodes().values().stream()));
    }

    /**
     * When the node may be forgotten: {@link #FORGET_AFTER} after its Node object was deleted and its daemon was heard
     * last. Never while an operator keeps one of its devices out of service.
     */
    public Optional<Instant> forgettableAt() {
        boolean manual = devices.values().stream()
                .map(Device::health)
                .anyMatch(state -> state instanceof DeviceHealth.Quarantined || state instanceof DeviceHealth.Retired);
        return manual ? Optional.empty() : Optional.ofNullable(node.goneSince()).map(since -> since.plus(FORGET_AFTER));
    }

    NodeState withNode(NodeReference newNode) {
        return new NodeState(newNode, boot, devices, episodes, health, quarantine, override, revision);
    }

    NodeState withBoot(Boot newBoot) {
        return new NodeState(node, newBoot, devices, episodes, health, quarantine, override, revision);
    }

    NodeState withDevices(SequencedMap<String, Device> newDevices) {
        return new NodeState(node, boot, newDevices, episodes, health, quarantine, override, revision);
    }

    NodeState withEpisodes(SequencedMap<FaultCode, Episode> newEpisodes) {
        return new NodeState(node, boot, devices, newEpisodes, health, quarantine, override, revision);
    }

    NodeState withHealth(NodeHealth newHealth) {
        return new NodeState(node, boot, devices, episodes, newHealth, quarantine, override, revision);
    }

    NodeState withQuarantine(@Nullable Quarantine newQuarantine) {
        return new NodeState(node, boot, devices, episodes, health, newQuarantine, override, revision);
    }

    NodeState withOverride(@Nullable ManualOverride newOverride) {
        return new NodeState(node, boot, devices, episodes, health, quarantine, newOverride, revision);
    }

    NodeState withRevision(long newRevision) {
        return new NodeState(node, boot, devices, episodes, health, quarantine, override, newRevision);
    }
}
