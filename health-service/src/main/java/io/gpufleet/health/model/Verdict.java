package io.gpufleet.health.model;

import java.time.Instant;
import java.util.Comparator;
import java.util.List;

/**
 * May a node and each of its devices be trusted: what is published, and what the marks follow from.
 *
 * @param revision counts up with every verdict of the node
 * @param nodeUid Node object for which it was reached; empty while unknown
 * @param bootId boot for which it was reached
 * @param survivesBoot whether a reboot changes nothing about it
 * @param standing what is concluded of the node
 * @param trusted false when the node wears the taint
 * @param devices those that are not healthy
 * @param evidence ids of events, at most {@value #EVIDENCE}
 */
public record Verdict(
        String node,
        long revision,
        String nodeUid,
        String bootId,
        boolean survivesBoot,
        NodeStanding standing,
        boolean trusted,
        List<OfDevice> devices,
        List<String> evidence) {
    private static final int EVIDENCE = 8;

    /** Copies the lists. */
    public Verdict {
        devices = List.copyOf(devices);
        evidence = List.copyOf(evidence);
    }

    /** What is concluded of one device. */
    public record OfDevice(
            String uuid, HealthState state, Instant since, String reason, NextStep step, boolean trusted) {}

    /** The verdict that a state amounts to; nothing else goes into it. */
    public static Verdict of(NodeState state) {
        List<OfDevice> devices = state.devices().values().stream()
                .filter(device -> !(device.health() instanceof DeviceHealth.Healthy))
                .map(Verdict::of)
                .toList();
        return new Verdict(
                state.node(),
                state.revision(),
                state.nodeUid(),
                state.boot().id(),
                state.quarantine() != null || devices.stream().anyMatch(Verdict::byHand),
                state.standing(),
                !state.standing().out() || state.hand() != null,
                devices,
                evidence(state));
    }

    /** True when it says the same of node and devices, whatever its revision. */
    public boolean saysAs(Verdict other) {
        boolean same = standing.saysAs(other.standing) && trusted == other.trusted && devices.equals(other.devices);
        boolean clean = standing.state() == HealthState.HEALTHY && devices.isEmpty();
        return same && (clean || (nodeUid.equals(other.nodeUid) && bootId.equals(other.bootId)));
    }

    /** Devices that must not be handed out. */
    public List<OfDevice> withdrawn() {
        return devices.stream().filter(device -> !device.trusted()).toList();
    }

    private static OfDevice of(Device device) {
        DeviceHealth health = device.health();
        return new OfDevice(
                device.uuid(), health.state(), health.since(), health.reason(), health.step(), health.trusted());
    }

    private static boolean byHand(OfDevice device) {
        return device.state() == HealthState.QUARANTINED || device.state() == HealthState.RETIRED;
    }

    private static List<String> evidence(NodeState state) {
        return state.allEpisodes()
                .filter(Episode::acts)
                .sorted(Comparator.comparing(Episode::since).thenComparing(Episode::eventId))
                .map(Episode::eventId)
                .distinct()
                .limit(EVIDENCE)
                .toList();
    }
}
