package io.gpufleet.health.model;

import io.gpufleet.health.model.device.Device;
import io.gpufleet.health.model.device.DeviceHealth;
import io.gpufleet.health.model.device.HealthState;
import io.gpufleet.health.model.fault.Episode;
import io.gpufleet.health.model.fault.RecommendedAction;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Verdict on the trust in a node and its devices: published on {@code gpu.verdicts}, and the source of the desired Node.
 *
 * @param node name and UID of the Node object it was reached for
 * @param revisions the revision of this verdict increases with every one of the node: at least Unix milliseconds, so that
 *     a log that was made anew outranks the former one
 * @param validity which boot it was reached for, and whether it outlives it
 * @param health health of the node as a whole
 * @param trusted false when the node is tainted
 * @param heldBack what holds a taint back that the policy asks for; empty when nothing does
 * @param devices devices that are not healthy
 * @param evidence ids of events, at most {@value #MAX_EVIDENCE}
 */
public record Verdict(
        NodeReference node,
        NodeState.Revisions revisions,
        Validity validity,
        NodeHealth health,
        boolean trusted,
        String heldBack,
        List<DeviceVerdict> devices,
        List<String> evidence) {
    static final int MAX_EVIDENCE = 8;

    /**
     * How long a verdict holds.
     *
     * @param bootId boot it was reached for
     * @param survivesBoot true when it also holds after a reboot
     */
    public record Validity(String bootId, boolean survivesBoot) {}

    /** Copies the lists. */
    public Verdict {
        devices = List.copyOf(devices);
        evidence = List.copyOf(evidence);
    }

    /**
     * Verdict about one device.
     *
     * @param heldBack what holds a withdrawal back that the policy asks for; empty when nothing does
     * @param withdrawnByNode true for a trusted device that its own daemon does not offer
     */
    public record DeviceVerdict(
            String uuid,
            HealthState state,
            Instant since,
            String reason,
            RecommendedAction recommendedAction,
            boolean trusted,
            String heldBack,
            boolean withdrawnByNode) {}

    /** Boot it was reached for. */
    public String bootId() {
        return validity.bootId();
    }

    /** True when it also holds after a reboot. */
    public boolean survivesBoot() {
        return validity.survivesBoot();
    }

    /** Its revision. */
    public long revision() {
        return revisions.verdict();
    }

    /** The verdict that follows from a state, and from nothing else. */
    public static Verdict of(NodeState state) {
        return of(state, evidence(state));
    }

    /** True when the verdicts of both states publish the same about node and devices. */
    static boolean same(NodeState before, NodeState after) {
        return of(after, List.of()).equalsIgnoringRevision(of(before, List.of()));
    }

    private static Verdict of(NodeState state, List<String> evidence) {
        List<DeviceVerdict> devices = new ArrayList<>();
        for (Device device : state.devices().values()) {
            if (!(device.health() instanceof DeviceHealth.Healthy)) {
                devices.add(of(state, device));
            }
        }
        return new Verdict(
                state.node(),
                state.revisions(),
                new Validity(
                        state.boot().id(),
                        state.quarantine() != null || devices.stream().anyMatch(Verdict::isManual)),
                state.health(),
                !state.tainted(),
                heldBack(state, ""),
                devices,
                evidence);
    }

    /** True when both publish the same about node and devices, whatever their revisions and evidence. */
    public boolean equalsIgnoringRevision(Verdict other) {
        boolean same = health.equalsIgnoringSince(other.health)
                && trusted == other.trusted
                && heldBack.equals(other.heldBack)
                && devices.equals(other.devices);
        boolean clean = health.state() == HealthState.HEALTHY && devices.isEmpty();
        return same && (clean || (node.sameObject(other.node) && bootId().equals(other.bootId())));
    }

    /** True when no device of the node must be allocated, healthy or not; never against a manual override. */
    public boolean withdrawsEveryDevice() {
        return !trusted && health.withdrawsEveryDevice();
    }

    /** Devices that are not healthy and must not be allocated. */
    public List<DeviceVerdict> withdrawn() {
        return devices.stream().filter(device -> !device.trusted()).toList();
    }

    /** Devices that cannot be allocated: those withdrawn, and those that their own daemon does not offer. */
    public List<DeviceVerdict> unavailable() {
        return devices.stream()
                .filter(device -> !device.trusted() || device.withdrawnByNode())
                .toList();
    }

    private static String heldBack(NodeState state, String device) {
        return Optional.ofNullable(state.heldBack().get(device))
                .map(HeldBack::by)
                .orElse("");
    }

    private static DeviceVerdict of(NodeState state, Device device) {
        DeviceHealth health = device.health();
        boolean trusted = !state.withdrawn(device);
        return new DeviceVerdict(
                device.uuid(),
                health.state(),
                health.since(),
                health.reason(),
                health.recommendedAction(),
                trusted,
                heldBack(state, device.uuid()),
                trusted && !state.offered(device));
    }

    private static boolean isManual(DeviceVerdict device) {
        return device.state() == HealthState.QUARANTINED || device.state() == HealthState.RETIRED;
    }

    /** An operator's quarantine, then the oldest faults. */
    private static List<String> evidence(NodeState state) {
        List<Episode> acting = new ArrayList<>();
        addActing(state.episodes().values(), acting);
        state.devices().values().forEach(device -> addActing(device.episodes().values(), acting));
        Stream<String> faults = acting.stream()
                .sorted(Comparator.comparing(Episode::since).thenComparing(Episode::eventId))
                .map(Episode::eventId);
        Stream<String> command = Optional.ofNullable(state.quarantine()).map(Quarantine::eventId).stream();
        return Stream.concat(command, faults)
                .filter(id -> !id.isEmpty())
                .distinct()
                .limit(MAX_EVIDENCE)
                .toList();
    }

    private static void addActing(Collection<Episode> open, List<Episode> acting) {
        for (Episode episode : open) {
            if (episode.acts()) {
                acting.add(episode);
            }
        }
    }
}
