package io.gpufleet.health.model;

import io.gpufleet.health.model.device.Cause;
import io.gpufleet.health.model.device.Device;
import io.gpufleet.health.model.device.DeviceHealth;
import io.gpufleet.health.model.device.HealthState;
import io.gpufleet.health.model.device.TargetHealth;
import io.gpufleet.health.model.fault.Episode;
import io.gpufleet.health.model.fault.FaultKind;
import io.gpufleet.health.model.fault.RecommendedAction;
import io.gpufleet.health.model.policy.FaultClass;
import io.gpufleet.health.model.policy.FaultRule;
import io.gpufleet.health.model.policy.HealthPolicy;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Evaluates the policy: target health of a device, health of a node. */
final class PolicyEvaluator {
    /** Reason of a node whose announced devices are all out of service. */
    static final String ALL_GPUS_UNAVAILABLE = "AllGpusUnavailable";

    private final HealthPolicy policy;

    PolicyEvaluator(HealthPolicy policy) {
        this.policy = policy;
    }

    /** Target health of a device by its open faults. */
    TargetHealth targetHealth(Device device) {
        if (device.lost()) {
            return new TargetHealth.Lost();
        }
        Collection<Episode> open = device.episodes().values();
        List<Episode> withdrawing = open.stream()
                .filter(Episode::acts)
                .filter(episode -> policy.rule(episode).faultClass().withdraws())
                .toList();
        if (!withdrawing.isEmpty()) {
            return new TargetHealth.Unhealthy(worst(withdrawing, device.health().reason()));
        }
        return open.isEmpty()
                ? new TargetHealth.Healthy()
                : new TargetHealth.Suspect(worst(open, device.health().reason()));
    }

    /** Health of the node, once its devices made their transitions. */
    NodeHealth nodeHealth(NodeState state, Instant at) {
        Quarantine quarantine = state.quarantine();
        if (quarantine != null) {
            return nodeHealth(state, HealthState.QUARANTINED, "Quarantined", quarantine.since());
        }
        List<Episode> tainting = taintingEpisodes(state);
        if (!tainting.isEmpty()) {
            String reason = worst(tainting, state.health().reason()).reason();
            return nodeHealth(state, HealthState.UNHEALTHY, reason, at);
        }
        if (allUnavailable(state)) {
            return nodeHealth(state, HealthState.UNHEALTHY, ALL_GPUS_UNAVAILABLE, at);
        }
        return worstReason(state)
                .map(reason -> nodeHealth(state, HealthState.SUSPECT, reason, at))
                .orElseGet(() -> nodeHealth(state, HealthState.HEALTHY, "", at));
    }

    /** Node health with the recommended action; keeps the start of an unchanged state and reason. */
    private NodeHealth nodeHealth(NodeState state, HealthState next, String reason, Instant since) {
        NodeHealth now = state.health();
        boolean unchanged = now.state() == next && now.reason().equals(reason);
        return new NodeHealth(
                next, unchanged ? now.since() : since, reason, recommendedAction(state), withdrawsEveryDevice(state));
    }

    /**
     * A fault of one GPU taints the node at most: pods on its healthy neighbours would otherwise see unhealthy devices. An XID
     * of the node is that of a GPU that the driver never listed.
     */
    private boolean withdrawsEveryDevice(NodeState state) {
        return state.quarantine() != null
                || state.episodes().values().stream()
                        .filter(Episode::acts)
                        .filter(episode -> episode.code().kind() != FaultKind.XID)
                        .anyMatch(episode -> policy.rule(episode).faultClass().taintsNode());
    }

    /** Start of the newest cause of the taint; empty when the node is not tainted. */
    Optional<Instant> newestTaintCause(NodeState state) {
        Stream<Instant> quarantined = Optional.ofNullable(state.quarantine()).map(Quarantine::since).stream();
        Stream<Instant> faults = taintingEpisodes(state).stream().map(Episode::since);
        Stream<Instant> devices = allUnavailable(state)
                ? state.devices().values().stream()
                        .map(device -> device.health().since())
                : Stream.empty();
        return Stream.of(quarantined, faults, devices).flatMap(times -> times).max(Comparator.naturalOrder());
    }

    private List<Episode> taintingEpisodes(NodeState state) {
        return state.allEpisodes()
                .filter(Episode::acts)
                .filter(episode -> policy.rule(episode).faultClass().taintsNode())
                .toList();
    }

    private static boolean allUnavailable(NodeState state) {
        List<Device> listed =
                state.devices().values().stream().filter(Device::listed).toList();
        return !listed.isEmpty()
                && listed.stream().noneMatch(device -> device.health().trusted());
    }

    private RecommendedAction recommendedAction(NodeState state) {
        Stream<RecommendedAction> ofNode = state.episodes().values().stream()
                .map(episode -> policy.rule(episode).recommendedAction());
        Stream<RecommendedAction> ofDevices =
                state.devices().values().stream().map(device -> device.health().recommendedAction());
        return Stream.concat(ofNode, ofDevices).reduce(RecommendedAction.NONE, RecommendedAction::orMoreSevere);
    }

    /** Reason of the worst fault of the node itself, else of the worst device. */
    private Optional<String> worstReason(NodeState state) {
        Optional<String> ofNode = state.episodes().isEmpty()
                ? Optional.empty()
                : Optional.of(worst(state.episodes().values(), state.health().reason())
                        .reason());
        return ofNode.or(() -> state.devices().values().stream()
                .map(Device::health)
                .filter(health -> !(health instanceof DeviceHealth.Healthy))
                .min(Comparator.comparing(DeviceHealth::trusted)
                        .thenComparing(DeviceHealth::recommendedAction, Comparator.reverseOrder())
                        .thenComparing(DeviceHealth::reason))
                .map(DeviceHealth::reason));
    }

    /** Cause of the worst fault by class; among equals the one that is the reason already, so that it stays stable. */
    private Cause worst(Collection<Episode> open, String current) {
        Episode worst = open.stream()
                .max(Comparator.<Episode, FaultClass>comparing(
                                episode -> policy.rule(episode).faultClass())
                        .thenComparing(episode -> episode.code().reason().equals(current))
                        .thenComparing(Episode::since, Comparator.reverseOrder())
                        .thenComparing(Episode::code, Comparator.reverseOrder()))
                .orElseThrow();
        RecommendedAction action = open.stream()
                .map(episode -> policy.rule(episode).recommendedAction())
                .reduce(RecommendedAction.NONE, RecommendedAction::orMoreSevere);
        return new Cause(worst.code().reason(), action);
    }

    /** Policy and rule of the worst acting fault; {@code otherwise} when none acts. */
    String ruleName(Collection<Episode> open, String otherwise) {
        return open.stream()
                .filter(Episode::acts)
                .map(policy::rule)
                .reduce(FaultRule::orWorse)
                .map(rule -> qualifiedName(rule.name()))
                .orElseGet(() -> qualifiedName(otherwise));
    }

    /** Name of a rule with the policy as prefix, for example {@code nvidia/xid-79}. */
    String qualifiedName(String rule) {
        return policy.name() + "/" + rule;
    }
}
