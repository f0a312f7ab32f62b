package io.gpufleet.health.model;

import io.gpufleet.health.model.device.Cause;
import io.gpufleet.health.model.device.DesiredDeviceHealth;
import io.gpufleet.health.model.device.Device;
import io.gpufleet.health.model.device.DeviceHealth;
import io.gpufleet.health.model.device.HealthState;
import io.gpufleet.health.model.drain.DrainMode;
import io.gpufleet.health.model.drain.DrainOrder;
import io.gpufleet.health.model.fault.Episode;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.fault.RecommendedAction;
import io.gpufleet.health.model.fault.RepairHistory;
import io.gpufleet.health.model.policy.FaultClass;
import io.gpufleet.health.model.policy.FaultRule;
import io.gpufleet.health.model.policy.HealthPolicy;
import io.gpufleet.health.model.policy.NodeAction;
import io.gpufleet.health.model.policy.RuleTiming;
import io.gpufleet.health.model.remediation.RemediationProgress;
import io.gpufleet.model.fault.FaultKind;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** Evaluates the policy: target health of a device, health of a node. */
final class PolicyEvaluator {
    /** Reason of a node whose announced devices are all out of service. */
    static final String ALL_GPUS_UNAVAILABLE = "AllGpusUnavailable";

    /** Reason of a device that its daemon does not offer and for which no fault is known. */
    static final String WITHDRAWN_BY_NODE = "WithdrawnByNode";

    private final HealthPolicy policy;
    private final Map<String, Duration> dwells;

    PolicyEvaluator(HealthPolicy policy) {
        this.policy = policy;
        this.dwells = policy.recoveryDwells();
    }

    /** How long a device stays out of service after its last fault was cleared; by the reason of the fault. */
    Duration recoveryDwell(String reason) {
        return dwells.getOrDefault(reason, policy.recoveryDwell());
    }

    /** When time alone changes a state next, {@link Instant#MAX} for never; asked of every state that changes or is restored. */
    Instant changesAt(NodeState state) {
        Instant next = earlier(
                state.node().presence().changesAt(), state.forgettableAt().orElse(Instant.MAX));
        ManualOverride override = state.override();
        if (override != null) {
            next = earlier(next, override.since().plus(ManualOverride.MAX_DURATION));
        }
        RemediationProgress progress = state.acting().remediation();
        if (progress.open()) {
            next = earlier(next, progress.remediation().deadline());
        }
        next = earlier(next, firstGraceEnd(state, state.episodes().values()));
        for (Device device : state.devices().values()) {
            next = earlier(next, firstGraceEnd(state, device.episodes().values()));
            if (device.health() instanceof DeviceHealth.Recovering recovering
                    && !state.awaitsValidation(device, policy.remediation())) {
                next = earlier(next, recovering.since().plus(recoveryDwell(recovering.reason())));
            }
        }
        return next;
    }

    private Instant firstGraceEnd(NodeState state, Collection<Episode> open) {
        Instant next = Instant.MAX;
        for (Episode episode : open) {
            if (episode.inGrace()) {
                next = earlier(next, graceEnd(state, episode));
            }
        }
        return next;
    }

    private static Instant earlier(Instant one, Instant other) {
        return one.isBefore(other) ? one : other;
    }

    /** Target health of a device by its open faults, and by what its daemon offers. */
    DesiredDeviceHealth targetHealth(NodeState state, Device device) {
        if (device.lost()) {
            return new DesiredDeviceHealth.Lost();
        }
        Collection<Episode> open = device.episodes().values();
        List<Episode> withdrawing = open.isEmpty()
                ? List.of()
                : open.stream()
                        .filter(Episode::acts)
                        .filter(episode -> policy.rule(episode).faultClass().withdraws())
                        .toList();
        if (!withdrawing.isEmpty()) {
            return new DesiredDeviceHealth.Unhealthy(worst(withdrawing, device.history()));
        }
        if (state.missing(device)) {
            return new DesiredDeviceHealth.Lost();
        }
        if (!open.isEmpty()) {
            return new DesiredDeviceHealth.Suspect(worst(open, device.history()));
        }
        if (state.offered(device)) {
            return new DesiredDeviceHealth.Healthy();
        }
        String reason = state.driverAway() ? FaultCode.of(FaultKind.DRIVER).reason() : WITHDRAWN_BY_NODE;
        return new DesiredDeviceHealth.Suspect(new Cause(reason, RecommendedAction.NONE));
    }

    /**
     * True for a fault that no boot ends: of the hardware, or one that came back after every attempt, unless a validation says
     * whether the last boot was in vain.
     */
    boolean outlivesBoots(Device device, Episode episode) {
        return episode.acts()
                && (policy.rule(episode).faultClass().outlivesBoots()
                        || (policy.rule(episode).faultClass().withdraws()
                                && !policy.remediation().validates()
                                && policy.escalation()
                                        .isTerminal(policy.recommendedAction(episode, device.history()))));
    }

    /** When the grace of a fault is over, its own and that of the boot. */
    Instant graceEnd(NodeState state, Episode episode) {
        RuleTiming timing = policy.timing(episode.code());
        Instant own = episode.since().plus(timing.grace());
        Instant ofBoot = state.boot().began().plus(timing.bootGrace());
        return timing.bootGrace().isZero() || own.isAfter(ofBoot) ? own : ofBoot;
    }

    /** Recommended action for the faults that withdraw the device; empty when none does. */
    Optional<RecommendedAction> recommendedFor(Device device) {
        return device.episodes().values().stream()
                .filter(Episode::acts)
                .filter(episode -> policy.rule(episode).faultClass().withdraws())
                .map(episode -> policy.recommendedAction(episode, device.history()))
                .reduce(RecommendedAction::orMoreSevere);
    }

    /** Action that a boot attempts for a device that faults keep out of service; empty where it attempts none. */
    Optional<RecommendedAction> attemptOfABoot(Device device) {
        return recommendedFor(device)
                .filter(action -> action.compareTo(RecommendedAction.POWER_CYCLE) <= 0)
                .map(action -> action.orMoreSevere(RecommendedAction.REBOOT));
    }

    /** Health of the node, once its devices made their transitions. */
    NodeHealth nodeHealth(NodeState state, Instant at) {
        Quarantine quarantine = state.quarantine();
        if (quarantine != null) {
            return nodeHealth(state, HealthState.QUARANTINED, "Quarantined", quarantine.since());
        }
        List<Episode> tainting = taintingEpisodes(state);
        if (!tainting.isEmpty()) {
            String reason = worst(tainting, state.faults().history()).reason();
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
                next,
                unchanged ? now.since() : since,
                reason,
                recommendedAction(state),
                drain(state),
                nodeAction(state),
                withdrawsEveryDevice(state));
    }

    /** Action of the rules whose faults take the node out of service; a taint for every other reason. */
    private NodeAction nodeAction(NodeState state) {
        Stream<NodeAction> ofRules = Stream.concat(
                        tainting(state.episodes().values(), state.faults().history())
                                .map(episode ->
                                        policy.rule(episode, state.faults().history())),
                        faulty(state).stream()
                                .flatMap(device -> tainting(device.episodes().values(), device.history())
                                        .map(episode -> policy.rule(episode, device.history()))))
                .map(FaultRule::nodeAction);
        Stream<NodeAction> byHand = state.quarantine() == null ? Stream.empty() : Stream.of(NodeAction.TAINT);
        return Stream.concat(ofRules, byHand).reduce(NodeAction::and).orElse(NodeAction.TAINT);
    }

    /** Pods that the rules of the faults that take something out of service ask to leave. */
    private DrainOrder drain(NodeState state) {
        DrainOrder ofNode = DrainOrder.ofNode(drain(state.episodes().values()));
        return faulty(state).stream().map(this::drain).reduce(ofNode, DrainOrder::and);
    }

    /** A reset concerns the pods of one GPU, a reboot those of every GPU. */
    private DrainOrder drain(Device device) {
        DrainMode mode = drain(device.episodes().values());
        boolean ofDevice = mode == DrainMode.GPU_PODS
                && recommendedFor(device).orElse(RecommendedAction.NONE).compareTo(RecommendedAction.REBOOT) < 0;
        return ofDevice ? DrainOrder.ofDevice(device.uuid()) : DrainOrder.ofNode(mode);
    }

    private DrainMode drain(Collection<Episode> open) {
        return open.stream()
                .filter(Episode::acts)
                .map(policy::rule)
                .filter(rule -> rule.faultClass().withdraws())
                .map(FaultRule::drain)
                .reduce(DrainMode.NONE, DrainMode::orMore);
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

    /** Causes to take the node out of service, each by a name of its own. */
    Set<String> taintCauses(NodeState state) {
        var causes = new HashSet<String>();
        tainting(state.episodes().values(), state.faults().history())
                .forEach(episode -> causes.add(episode.code().slug()));
        faulty(state)
                .forEach(device -> tainting(device.episodes().values(), device.history())
                        .forEach(episode ->
                                causes.add(device.uuid() + " " + episode.code().slug())));
        if (state.quarantine() != null) {
            causes.add("quarantine");
        }
        if (allUnavailable(state)) {
            causes.add(ALL_GPUS_UNAVAILABLE);
        }
        return causes;
    }

    private Stream<Episode> tainting(Collection<Episode> open, RepairHistory history) {
        return open.stream()
                .filter(Episode::acts)
                .filter(episode -> policy.rule(episode, history).faultClass().taintsNode());
    }

    /** Devices with open faults, almost always one or none; those of a retired device concern nobody. */
    private static List<Device> faulty(NodeState state) {
        List<Device> found = List.of();
        for (Device device : state.devices().values()) {
            if (!device.episodes().isEmpty() && !(device.health() instanceof DeviceHealth.Retired)) {
                found = found.isEmpty() ? new ArrayList<>() : found;
                found.add(device);
            }
        }
        return found;
    }

    private List<Episode> taintingEpisodes(NodeState state) {
        return Stream.concat(
                        tainting(state.episodes().values(), state.faults().history()),
                        faulty(state).stream()
                                .flatMap(device -> tainting(device.episodes().values(), device.history())))
                .toList();
    }

    /** Not while a fault of the node is in its grace: a driver that is being replaced takes every device away. */
    private static boolean allUnavailable(NodeState state) {
        boolean any = false;
        for (Device device : state.devices().values()) {
            if (device.listed() || device.missing(state.boot().id()) || state.missing(device)) {
                if (device.health().trusted()) {
                    return false;
                }
                any = true;
            }
        }
        return any
                && state.episodes().values().stream()
                        .noneMatch(episode -> episode.restraint().any());
    }

    /** Of what is out of service; of the suspects where nothing is. */
    private RecommendedAction recommendedAction(NodeState state) {
        Collection<Episode> ofNode = state.episodes().values();
        RepairHistory history = state.faults().history();
        RecommendedAction out = RecommendedAction.NONE;
        RecommendedAction any = RecommendedAction.NONE;
        for (Episode episode : ofNode) {
            RecommendedAction action = policy.recommendedAction(episode, history);
            any = any.orMoreSevere(action);
            out = policy.rule(episode).faultClass().withdraws() ? out.orMoreSevere(action) : out;
        }
        for (Device device : state.devices().values()) {
            RecommendedAction action = device.health().recommendedAction();
            any = any.orMoreSevere(action);
            out = device.health().trusted() ? out : out.orMoreSevere(action);
        }
        return out == RecommendedAction.NONE ? any : out;
    }

    /** Reason of the worst fault of the node itself, else of the worst device. */
    private Optional<String> worstReason(NodeState state) {
        Optional<String> ofNode = state.episodes().isEmpty()
                ? Optional.empty()
                : Optional.of(worst(state.episodes().values(), state.faults().history())
                        .reason());
        return ofNode.or(() -> state.devices().values().stream()
                .map(Device::health)
                .filter(health -> !(health instanceof DeviceHealth.Healthy))
                .min(Comparator.comparing(DeviceHealth::trusted)
                        .thenComparing(DeviceHealth::recommendedAction, Comparator.reverseOrder())
                        .thenComparing(DeviceHealth::reason))
                .map(DeviceHealth::reason));
    }

    /** Cause of the worst fault by class; among equals the oldest, whichever was read first. */
    private Cause worst(Collection<Episode> open, RepairHistory history) {
        Episode worst = open.stream()
                .max(Comparator.<Episode, FaultClass>comparing(
                                episode -> policy.rule(episode).faultClass())
                        .thenComparing(Episode::since, Comparator.reverseOrder())
                        .thenComparing(Episode::code, Comparator.reverseOrder()))
                .orElseThrow();
        RecommendedAction action = open.stream()
                .map(episode -> policy.recommendedAction(episode, history))
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
