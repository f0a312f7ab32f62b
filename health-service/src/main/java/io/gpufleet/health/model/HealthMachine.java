package io.gpufleet.health.model;

import io.gpufleet.health.model.HealthSignal.CommandIssued;
import io.gpufleet.health.model.HealthSignal.DaemonDeparted;
import io.gpufleet.health.model.HealthSignal.DaemonIncarnation;
import io.gpufleet.health.model.HealthSignal.DaemonSignal;
import io.gpufleet.health.model.HealthSignal.DaemonSilence;
import io.gpufleet.health.model.HealthSignal.DeviceArrived;
import io.gpufleet.health.model.HealthSignal.DeviceLeft;
import io.gpufleet.health.model.HealthSignal.DevicesAnnounced;
import io.gpufleet.health.model.HealthSignal.DevicesHeld;
import io.gpufleet.health.model.HealthSignal.DrainReported;
import io.gpufleet.health.model.HealthSignal.FaultCleared;
import io.gpufleet.health.model.HealthSignal.FaultObserved;
import io.gpufleet.health.model.HealthSignal.FaultsOpen;
import io.gpufleet.health.model.HealthSignal.LocalHealthChanged;
import io.gpufleet.health.model.HealthSignal.NodeObjectDeleted;
import io.gpufleet.health.model.HealthSignal.NodeObjectObserved;
import io.gpufleet.health.model.HealthSignal.OverrideObserved;
import io.gpufleet.health.model.HealthSignal.RemediationReported;
import io.gpufleet.health.model.HealthSignal.TimePassed;
import io.gpufleet.health.model.budget.PermittedActions;
import io.gpufleet.health.model.device.Device;
import io.gpufleet.health.model.fault.Episode;
import io.gpufleet.health.model.policy.HealthPolicy;
import io.gpufleet.health.model.presence.Presence;
import io.gpufleet.health.model.presence.SilenceDetector;
import io.gpufleet.health.model.remediation.Remediation.RemediatedDevice;
import io.gpufleet.health.model.remediation.RemediationProgress;
import io.gpufleet.health.model.remediation.RemediationProgress.Phase;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * {@code decide(state, signal, now) -> events + effects}. A fault of a former boot, and a fault older than {@code
 * maxActionAge}, is recorded and withdraws nothing. Signals that return a device to service have no age limit.
 */
public final class HealthMachine {
    /** Devices kept per node; signals about further devices are dropped, since a daemon is not trusted. */
    public static final int MAX_DEVICES = 256;

    /** How exactly the last sign of a node without a Node object is kept. */
    private static final Duration SIGN_INTERVAL = Duration.ofHours(1);

    private final HealthPolicy policy;
    private final PolicyEvaluator evaluator;
    private final Duration maxActionAge;

    /** Machine with one policy for all nodes. */
    public HealthMachine(HealthPolicy policy, Duration maxActionAge) {
        this.policy = policy;
        this.evaluator = new PolicyEvaluator(policy);
        this.maxActionAge = maxActionAge;
    }

    /** The policy by which it decides. */
    public HealthPolicy policy() {
        return policy;
    }

    /** Events and effects of a signal without any limit; changes nothing by itself. */
    public DecisionResult decide(NodeState state, HealthSignal signal, Instant now) {
        return decide(state, signal, now, PermittedActions.ALL);
    }

    /** Events and effects of a signal; what the allowance refuses is recorded and held back. */
    public DecisionResult decide(NodeState state, HealthSignal signal, Instant now, PermittedActions allowance) {
        var evaluation = new Evaluation(state, evaluator, signal.metadata());
        evaluation.endGraces(now);
        DecisionContext context = signal instanceof DaemonSignal reported
                ? reported(evaluation, reported)
                : dispatch(evaluation, signal, DecisionContext.NONE);
        settlePresence(evaluation, now);
        settleRemediation(evaluation, now);
        return evaluation.finish(context, policy, now, allowance);
    }

    /** When time alone changes this state next; {@link Instant#MAX} for never. */
    public Instant changesAt(NodeState state) {
        return evaluator.changesAt(state);
    }

    /** Boot of a daemon's signal, relative to the boot in the state. */
    private enum BootOrder {
        CURRENT,
        NEWER,
        FORMER
    }

    private static BootOrder compareBoot(NodeState.Boot known, DaemonIncarnation reporting) {
        if (reporting.id().equals(known.id())) {
            return BootOrder.CURRENT;
        }
        if (known.formers().contains(reporting.id())) {
            return BootOrder.FORMER;
        }
        return reporting.newMachine() || reporting.epoch() > known.epoch() ? BootOrder.NEWER : BootOrder.FORMER;
    }

    private DecisionContext reported(Evaluation evaluation, DaemonSignal signal) {
        heard(evaluation, signal);
        return switch (compareBoot(evaluation.state().boot(), signal.incarnation())) {
            case CURRENT -> {
                updateEpoch(evaluation, signal.incarnation().epoch());
                yield dispatch(evaluation, signal, DecisionContext.NONE);
            }
            case NEWER -> dispatch(evaluation, signal, beginBoot(evaluation, signal.incarnation()));
            case FORMER ->
                switch (signal) {
                    case FaultObserved fault -> faults(evaluation).formerBoot(fault);
                    case FaultCleared cleared -> faults(evaluation).cleared(cleared);
                    case FaultsOpen _, LocalHealthChanged _, DevicesAnnounced _, DaemonDeparted _, DevicesHeld _ ->
                        DecisionContext.NONE;
                };
        };
    }

    /** A node without a Node object is forgotten some time after its last sign; one that never had one too. */
    private static void heard(Evaluation evaluation, DaemonSignal signal) {
        NodeReference node = evaluation.state().node();
        Instant known = node.goneSince();
        Instant at = evaluation.at();
        boolean news =
                known == null ? node.uid().isEmpty() : known.plus(SIGN_INTERVAL).isBefore(at);
        if (news) {
            evaluation.emit(new NodeStateChange.NodeGone(at));
        }
        // What was read late tells nothing about now.
        if (signal.metadata().age().compareTo(SilenceDetector.SILENT_AFTER) < 0) {
            Presence presence = evaluation.state().node().presence();
            presence(evaluation, signal instanceof DevicesAnnounced ? presence.announced(at) : presence.heard(at));
        }
    }

    private static void presence(Evaluation evaluation, Presence next) {
        if (!next.equals(evaluation.state().node().presence())) {
            evaluation.emit(new NodeStateChange.PresenceChanged(next));
        }
    }

    /** Shown in the condition only; nothing is taken out of service because nothing is heard of it. */
    private static void settlePresence(Evaluation evaluation, Instant now) {
        NodeReference node = evaluation.state().node();
        Presence next = node.presence().settled(node.placement().ready(), now);
        if (!next.reason().equals(node.presence().reason())) {
            presence(evaluation, next);
            evaluation.recordUnchanged(
                    DecisionContext.of(next.reason().isEmpty() ? "the node is heard" : next.message(), "presence"),
                    "",
                    Decision.Status.RECORDED,
                    next.reason().isEmpty() ? Decision.HEALTH_KNOWN : Decision.HEALTH_UNKNOWN + next.reason());
        }
    }

    private static DecisionContext silence(Evaluation evaluation, DaemonSilence signal, DecisionContext otherwise) {
        Presence presence = evaluation.state().node().presence();
        presence(evaluation, signal.silent() ? presence.silent(evaluation.at()) : presence.heard(evaluation.at()));
        return otherwise;
    }

    /** Another Node object, another boot and what is in service again need nothing; a request of long ago does not begin. */
    private DecisionContext remediation(Evaluation evaluation, RemediationReported report, DecisionContext otherwise) {
        NodeState state = evaluation.state();
        boolean applies = report.remediation()
                        .target()
                        .nodeUid()
                        .equals(state.node().uid())
                && report.remediation().target().bootId().equals(state.boot().id())
                && evaluation.at().isBefore(report.remediation().deadline())
                && state.forbids(report.remediation()).isEmpty();
        if (report.phase() != Phase.REQUESTED || applies) {
            state.acting()
                    .remediation()
                    .after(report.remediation(), report.phase(), evaluation.at(), report.message())
                    .ifPresent(next -> changeRemediation(evaluation, next));
        }
        return otherwise;
    }

    private void settleRemediation(Evaluation evaluation, Instant now) {
        RemediationProgress progress = evaluation.state().acting().remediation();
        if (progress.open() && progress.remediation().validates()) {
            // A new fault takes a GPU out of those that wait.
            evaluation.applyTransitions(policy);
        }
        NodeState state = evaluation.state();
        if (progress.open()) {
            progress.settled(
                            state.node().uid(),
                            state.boot().id(),
                            Stream.concat(
                                            state.allEpisodes().map(Episode::eventId),
                                            state.devices().values().stream()
                                                    .filter(device ->
                                                            state.awaitsValidation(device, policy.remediation()))
                                                    .map(Device::uuid))
                                    .collect(Collectors.toSet()),
                            now)
                    .ifPresent(next -> changeRemediation(evaluation, next));
        }
    }

    private void changeRemediation(Evaluation evaluation, RemediationProgress next) {
        List<String> devices = next.remediation().target().devices().stream()
                .map(RemediatedDevice::uuid)
                .toList();
        if (next.phase() == Phase.SUCCEEDED && next.remediation().validates()) {
            devices.forEach(uuid -> validated(evaluation, uuid));
        }
        evaluation.emit(new NodeStateChange.RemediationChanged(next));
        // A boot is counted for devices only.
        if (next.wasInVain() || (next.phase() == Phase.SUCCEEDED && devices.isEmpty())) {
            evaluation.countAttempt(
                    devices, next.remediation().action(), policy.escalation().within());
        }
        evaluation.recordUnchanged(
                DecisionContext.of(next.message(), "remediation"),
                "",
                next.phase() == Phase.REQUESTED ? Decision.Status.ACTED : Decision.Status.RECORDED,
                "remediation " + next.phase().name().toLowerCase(Locale.ROOT).replace('_', ' ') + ": "
                        + next.remediation().text());
    }

    /** A device that got a new fault meanwhile does not wait any more, and passed nothing. */
    private void validated(Evaluation evaluation, String uuid) {
        NodeState state = evaluation.state();
        state.device(uuid)
                .filter(device -> state.awaitsValidation(device, policy.remediation()))
                .ifPresent(device -> evaluation.emit(new NodeStateChange.HistoryChanged(
                        uuid, policy.escalation().validated(device.history(), evaluation.at()))));
    }

    private static void updateEpoch(Evaluation evaluation, long epoch) {
        NodeState.Boot known = evaluation.state().boot();
        if (epoch > known.epoch()) {
            evaluation.emit(new NodeStateChange.BootChanged(known.withEpoch(epoch)));
        }
    }

    private DecisionContext beginBoot(Evaluation evaluation, DaemonIncarnation reporting) {
        NodeState.LearnedGpus gpus = reporting.newMachine()
                ? NodeState.LearnedGpus.NONE
                : evaluation.state().boot().gpus();
        if (!reporting.newMachine()) {
            faults(evaluation).countBoot();
        }
        evaluation.emit(new NodeStateChange.BootChanged(
                evaluation.state().boot().next(reporting.id(), reporting.epoch(), evaluation.at(), gpus)));
        if (reporting.newMachine()) {
            faults(evaluation).beginMachine();
            endQuarantine(evaluation);
        } else {
            faults(evaluation).beginBoot();
        }
        // Before the first signal of the new boot is handled, so that no reason of the old boot is kept.
        evaluation.applyTransitions(policy);
        return DecisionContext.of("boot " + reporting.id() + " began", "boot-changed");
    }

    /** Marks faults that only daemons before the new state directory reported, so that people see why they are open. */
    private static void markForgotten(Evaluation evaluation, FaultsOpen snapshot) {
        NodeState state = evaluation.state();
        Stream.concat(Stream.of(""), state.devices().keySet().stream())
                .forEach(uuid -> state.episodesOf(uuid).values().stream()
                        .filter(episode ->
                                episode.becomesForgotten(snapshot.incarnation().id(), snapshot.knownSinceEpoch()))
                        .map(Episode::forgottenByDaemon)
                        .forEach(episode -> evaluation.emit(new NodeStateChange.EpisodeUpdated(uuid, episode))));
    }

    /** Handles a signal; answers {@code otherwise} for a signal that has no context of its own. */
    private DecisionContext dispatch(Evaluation evaluation, HealthSignal signal, DecisionContext otherwise) {
        return switch (signal) {
            case FaultObserved observed -> faults(evaluation).observed(observed);
            case FaultCleared cleared -> faults(evaluation).cleared(cleared);
            case FaultsOpen snapshot -> {
                DecisionContext context = faults(evaluation).open(snapshot);
                markForgotten(evaluation, snapshot);
                yield context;
            }
            case LocalHealthChanged changed -> {
                faults(evaluation).localHealth(changed.device(), changed.locallyHealthy());
                yield otherwise;
            }
            case DevicesAnnounced announced ->
                new AnnouncementHandler(evaluation, faults(evaluation), new DeviceArrivalHandler(evaluation, policy))
                        .handle(announced);
            case DaemonDeparted _ -> {
                presence(evaluation, evaluation.state().node().presence().departed(evaluation.at()));
                yield otherwise;
            }
            case DevicesHeld held -> {
                if (!held.holdings().equals(evaluation.state().acting().holdings())) {
                    evaluation.emit(new NodeStateChange.HoldingsChanged(held.holdings()));
                }
                yield otherwise;
            }
            case DrainReported report -> new Drains(evaluation).handle(report, otherwise);
            case RemediationReported report -> remediation(evaluation, report, otherwise);
            case DaemonSilence silence -> silence(evaluation, silence, otherwise);
            case NodeObjectObserved observed -> nodeObserved(evaluation, observed, otherwise);
            case NodeObjectDeleted deleted -> nodeDeleted(evaluation, deleted, otherwise);
            case OverrideObserved removed -> overrideObserved(evaluation, removed, otherwise);
            case CommandIssued command -> new OperatorCommandHandler(evaluation, faults(evaluation)).handle(command);
            case DeviceArrived arrived -> arrived(evaluation, arrived);
            case DeviceLeft left -> left(evaluation, left);
            case TimePassed _ -> DecisionContext.recovery("timer");
        };
    }

    private FaultSignalHandler faults(Evaluation evaluation) {
        return new FaultSignalHandler(evaluation, policy, maxActionAge);
    }

    private static DecisionContext nodeObserved(
            Evaluation evaluation, NodeObjectObserved observed, DecisionContext otherwise) {
        NodeReference node = evaluation.state().node();
        if (observed.placement().observed() && !observed.placement().equals(node.placement())) {
            if (node.placement().ready() && !observed.placement().ready()) {
                presence(evaluation, node.presence().lost(evaluation.at()));
            }
            evaluation.emit(new NodeStateChange.PlacementChanged(observed.placement()));
        }
        String known = node.uid();
        if (known.equals(observed.uid())) {
            if (node.goneSince() != null) {
                evaluation.emit(new NodeStateChange.NodeUidChanged(known));
            }
            return otherwise;
        }
        evaluation.emit(new NodeStateChange.NodeUidChanged(observed.uid()));
        if (!known.isEmpty()) {
            // An override belongs to the Node object, a quarantine to the machine: the same one may register again.
            endOverride(evaluation);
        }
        return DecisionContext.of("the Node object was recreated", "node-object");
    }

    private static DecisionContext nodeDeleted(
            Evaluation evaluation, NodeObjectDeleted deleted, DecisionContext otherwise) {
        NodeReference node = evaluation.state().node();
        if (deleted.uid().isEmpty() || !deleted.uid().equals(node.uid()) || node.goneSince() != null) {
            return otherwise;
        }
        evaluation.emit(new NodeStateChange.NodeGone(evaluation.at()));
        if (evaluation.state().override() == null) {
            return otherwise;
        }
        endOverride(evaluation);
        return DecisionContext.of("the Node object was deleted", "node-object");
    }

    private DecisionContext arrived(Evaluation evaluation, DeviceArrived arrived) {
        var arrivals = new DeviceArrivalHandler(evaluation, policy);
        String uuid = arrived.device().uuid();
        if (evaluation.state().hardware().isFormer(uuid)) {
            arrivals.returned(uuid);
        }
        arrivals.arrived(arrived.device());
        return DecisionContext.of("what is remembered of it follows the device from another node", "moved");
    }

    private static DecisionContext left(Evaluation evaluation, DeviceLeft left) {
        evaluation.emit(new NodeStateChange.DeviceForgotten(left.device()));
        return DecisionContext.of("the device is on another node", "moved");
    }

    private static void endOverride(Evaluation evaluation) {
        if (evaluation.state().override() != null) {
            evaluation.emit(new NodeStateChange.OverrideChanged(null));
        }
    }

    private static void endQuarantine(Evaluation evaluation) {
        if (evaluation.state().quarantine() != null) {
            evaluation.emit(new NodeStateChange.QuarantineChanged(null));
        }
    }

    private static DecisionContext overrideObserved(
            Evaluation evaluation, OverrideObserved removed, DecisionContext otherwise) {
        NodeState state = evaluation.state();
        // A taint of an earlier revision: what was removed did not stand for the newest fault.
        boolean covered = removed.revision() <= state.revision()
                && removed.revision() >= state.revisions().cause();
        if (!state.health().outOfService() || state.override() != null || !covered) {
            return otherwise;
        }
        var override = new ManualOverride(evaluation.at(), removed.by(), removed.target());
        evaluation.emit(new NodeStateChange.OverrideChanged(override));
        return DecisionContext.of(removed.target() + " removed by " + removed.by(), "override");
    }
}
