package io.gpufleet.health.model;

import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** What a policy makes of what is known: the aim of a device, the standing of a node. */
final class Judge {
    /** Reason of a node of which no device is left. */
    static final String ALL_OUT = "AllGpusOut";

    private final HealthPolicy policy;

    Judge(HealthPolicy policy) {
        this.policy = policy;
    }

    /** Where everything that is known of the device points. */
    Aim aim(Device device) {
        if (device.lost()) {
            return new Aim.Gone();
        }
        Collection<Episode> open = device.episodes().values();
        List<Episode> out = open.stream()
                .filter(Episode::acts)
                .filter(episode -> policy.rule(episode).effect().withdraws())
                .toList();
        if (!out.isEmpty()) {
            return new Aim.Out(worst(out, device.health().reason()));
        }
        return open.isEmpty()
                ? new Aim.Well()
                : new Aim.Doubt(worst(open, device.health().reason()));
    }

    /** What is to be concluded of the node, once its devices have moved. */
    NodeStanding standing(NodeState state, Instant at) {
        NodeStanding now = state.standing();
        NodeStanding next = conclude(state, at);
        boolean same = now.state() == next.state() && now.reason().equals(next.reason());
        return same ? new NodeStanding(next.state(), now.since(), next.reason(), next.step()) : next;
    }

    /** When the newest of the things began for which the node is marked; empty when it is not. */
    Optional<Instant> newestMark(NodeState state) {
        Stream<Instant> quarantined = Optional.ofNullable(state.quarantine()).map(Quarantine::since).stream();
        Stream<Instant> marking = marking(state).stream().map(Episode::since);
        Stream<Instant> devices = allOut(state)
                ? state.devices().values().stream()
                        .map(device -> device.health().since())
                : Stream.empty();
        return Stream.of(quarantined, marking, devices).flatMap(times -> times).max(Comparator.naturalOrder());
    }

    private NodeStanding conclude(NodeState state, Instant at) {
        NextStep step = dueStep(state);
        Quarantine quarantine = state.quarantine();
        if (quarantine != null) {
            return new NodeStanding(HealthState.QUARANTINED, quarantine.since(), "Quarantined", step);
        }
        List<Episode> marking = marking(state);
        if (!marking.isEmpty()) {
            String reason = worst(marking, state.standing().reason()).reason();
            return new NodeStanding(HealthState.UNHEALTHY, at, reason, step);
        }
        if (allOut(state)) {
            return new NodeStanding(HealthState.UNHEALTHY, at, ALL_OUT, step);
        }
        return worstPart(state)
                .map(reason -> new NodeStanding(HealthState.SUSPECT, at, reason, step))
                .orElseGet(() -> NodeStanding.healthy(at));
    }

    private List<Episode> marking(NodeState state) {
        return state.allEpisodes()
                .filter(Episode::acts)
                .filter(episode -> policy.rule(episode).effect().marksNode())
                .toList();
    }

    private static boolean allOut(NodeState state) {
        List<Device> listed =
                state.devices().values().stream().filter(Device::listed).toList();
        return !listed.isEmpty()
                && listed.stream().noneMatch(device -> device.health().trusted());
    }

    private NextStep dueStep(NodeState state) {
        Stream<NextStep> ofNode = state.episodes().values().stream()
                .map(episode -> policy.rule(episode).step());
        Stream<NextStep> ofDevices =
                state.devices().values().stream().map(device -> device.health().step());
        return Stream.concat(ofNode, ofDevices).reduce(NextStep.NONE, NextStep::orHeavier);
    }

    /** The reason of what is worst among devices that are not healthy and faults of the node itself. */
    private Optional<String> worstPart(NodeState state) {
        Optional<String> ofNode = state.episodes().isEmpty()
                ? Optional.empty()
                : Optional.of(worst(state.episodes().values(), state.standing().reason())
                        .reason());
        return ofNode.or(() -> state.devices().values().stream()
                .map(Device::health)
                .filter(health -> !(health instanceof DeviceHealth.Healthy))
                .min(Comparator.comparing(DeviceHealth::trusted)
                        .thenComparing(DeviceHealth::step, Comparator.reverseOrder())
                        .thenComparing(DeviceHealth::reason))
                .map(DeviceHealth::reason));
    }

    /** The worst by class; of equals the one that is named already, so that a reason is stable while it is open. */
    private Cause worst(Collection<Episode> open, String named) {
        Episode worst = open.stream()
                .max(Comparator.<Episode, FaultClass>comparing(
                                episode -> policy.rule(episode).effect())
                        .thenComparing(episode -> episode.code().reason().equals(named))
                        .thenComparing(Episode::since, Comparator.reverseOrder())
                        .thenComparing(Episode::code, Comparator.reverseOrder()))
                .orElseThrow();
        NextStep step =
                open.stream().map(episode -> policy.rule(episode).step()).reduce(NextStep.NONE, NextStep::orHeavier);
        return new Cause(worst.code().reason(), step);
    }

    /** Policy and rule by which something is out, for the record. */
    String ruleName(Collection<Episode> open, String otherwise) {
        return open.stream()
                .filter(Episode::acts)
                .map(policy::rule)
                .reduce(Rule::orWorse)
                .map(rule -> named(rule.name()))
                .orElseGet(() -> named(otherwise));
    }

    /** A rule with the policy's name before it. */
    String named(String rule) {
        return policy.name() + "/" + rule;
    }
}
