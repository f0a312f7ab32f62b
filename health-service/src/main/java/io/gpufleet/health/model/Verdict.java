package io.gpufleet.health.model;

import io.gpufleet.health.model.device.Device;
import io.gpufleet.health.model.device.DeviceHealth;
import io.gpufleet.health.model.device.HealthState;
import io.gpufleet.health.model.fault.Episode;
import io.gpufleet.health.model.fault.RecommendedAction;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;

/**
 * Verdict on the trust in a node and its devices: published on {@code gpu.verdicts}, and the source of the desired Node.
 *
 * @param node name and UID of the Node object it was reached for
 * @param revision increases with every verdict of the node: at least Unix milliseconds, so that a log that was made anew
 *     outranks the former one
 * @param bootId boot it was reached for
 * @param survivesBoot true when it also holds after a reboot
 * @param health health of the node as a whole
 * @param trusted false when the node is tainted
 * @param devices devices that are not healthy
 * @param evidence ids of events, at most {@value #MAX_EVIDENCE}
 */
public record Verdict(
        NodeReference node,
        long revision,
        String bootId,
        boolean survivesBoot,
        NodeHealth health,
        boolean trusted,
        List<DeviceVerdict> devices,
        List<String> evidence) {
    static final int MAX_EVIDENCE = 8;

    /** Copies the lists. */
    public Verdict {
        devices = List.copyOf(devices);
        evidence = List.copyOf(evidence);
    }

    /** Verdict about one device. */
    public record DeviceVerdict(
            String uuid,
            HealthState state,
            Instant since,
            String reason,
            RecommendedAction recommendedAction,
            boolean trusted) {}

    /** The verdict that follows from a state, and from nothing else. */
    public static Verdict of(NodeState state) {
        List<DeviceVerdict> devices = state.devices().values().stream()
                .filter(device -> !(device.health() instanceof DeviceHealth.Healthy))
                .map(Verdict::of)
                .toList();
        return new Verdict(
                state.node(),
                state.revision(),
                state.boot().id(),
                state.quarantine() != null || devices.stream().anyMatch(Verdict::isManual),
                state.health(),
                !state.health().outOfService() || state.override() != null,
                devices,
                evidence(state));
    }

    /** True when both publish the same about node and devices, whatever their revisions and evidence. */
    public boolean equalsIgnoringRevision(Verdict other) {
        boolean same =
                health.equalsIgnoringSince(other.health) && trusted == other.trusted && devices.equals(other.devices);
        boolean clean = health.state() == HealthState.HEALTHY && devices.isEmpty();
        return same && (clean || (node.sameObject(other.node) && bootId.equals(other.bootId)));
    }

    /** True when no device of the node must be allocated, healthy or not; never against a manual override. */
    public boolean withdrawsEveryDevice() {
        return !trusted && health.withdrawsEveryDevice();
    }

    /** Devices that are not healthy and must not be allocated. */
    public List<DeviceVerdict> withdrawn() {
        return devices.stream().filter(device -> !device.trusted()).toList();
    }

    private static DeviceVerdict of(Device device) {
        DeviceHealth health = device.health();
        return new DeviceVerdict(
                device.uuid(),
                health.state(),
                health.since(),
                health.reason(),
                health.recommendedAction(),
                health.trusted());
    }

    private static boolean isManual(DeviceVerdict device) {
        return device.state() == HealthState.QUARANTINED || device.state() == HealthState.RETIRED;
    }

    private static List<String> evidence(NodeState state) {
        return state.allEpisodes()
                .filter(Episode::acts)
                .sorted(Comparator.comparing(Episode::since).thenComparing(Episode::eventId))
                .map(Episode::eventId)
                .distinct()
                .limit(MAX_EVIDENCE)
                .toList();
    }
}
