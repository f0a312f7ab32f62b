package io.gpufleet.health.model;

import io.gpufleet.health.model.Decision.Outcome;
import io.gpufleet.health.model.Decision.StateTransition;
import io.gpufleet.health.model.Decision.Status;
import io.gpufleet.health.model.DecisionResult.Effect;
import io.gpufleet.health.model.budget.PermittedActions;
import io.gpufleet.health.model.device.DesiredDeviceHealth;
import io.gpufleet.health.model.device.Device;
import io.gpufleet.health.model.device.DeviceHealth;
import io.gpufleet.health.model.device.HealthState;
import io.gpufleet.health.model.device.NodeHardware;
import io.gpufleet.health.model.device.Transitions;
import io.gpufleet.health.model.fault.Episode;
import io.gpufleet.health.model.fault.RecommendedAction;
import io.gpufleet.health.model.fault.SuspectReason;
import io.gpufleet.health.model.policy.HealthPolicy;
import io.gpufleet.health.model.policy.NodeAction;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;

/** Working state of one decision: an emitted event is applied at once, so that the next step sees it. */
final class Evaluation {
    private final NodeState before;
    private final PolicyEvaluator evaluator;
    private final HealthSignal.EventMetadata metadata;
    private final List<NodeStateChange> events = new ArrayList<>();
    private final List<Decision> decisions = new ArrayList<>();
    private NodeState state;

    Evaluation(NodeState before, PolicyEvaluator evaluator, HealthSignal.EventMetadata metadata) {
        this.before = before;
        this.state = before;
        this.evaluator = evaluator;
        this.metadata = metadata;
    }

    /** The state after the events emitted so far. */
    NodeState state() {
        return state;
    }

    PolicyEvaluator evaluator() {
        return evaluator;
    }

    /** Append time of the signal. */
    Instant at() {
        return metadata.at();
    }

    void emit(NodeStateChange event) {
        events.add(event);
        state = StateReducer.apply(state, event);
    }

    /** False for a device beyond the limit of {@link HealthMachine#MAX_DEVICES}: signals about it are dropped. */
    boolean withinDeviceLimit(String uuid) {
        return uuid.isEmpty()
                || state.devices().containsKey(uuid)
                || state.devices().size() < HealthMachine.MAX_DEVICES;
    }

    /** Ends the grace of every fault for which it is over. */
    void endGraces(Instant now) {
        if (!state.inGrace()) {
            return;
        }
        endGraces("", state.episodes().values(), now);
        state.devices()
                .values()
                .forEach(device -> endGraces(device.uuid(), device.episodes().values(), now));
    }

    private void endGraces(String uuid, Collection<Episode> open, Instant now) {
        open.stream()
                .filter(episode -> episode.inGrace() && !now.isBefore(evaluator.graceEnd(state, episode)))
                .forEach(episode -> emit(new NodeStateChange.EpisodeUpdated(
                        uuid,
                        episode.with(
                                new SuspectReason(false, episode.restraint().threshold())))));
    }

    /** Counts an attempt of which no signal tells; of the node itself where no device is named. */
    void countAttempt(List<String> devices, RecommendedAction action, Duration within) {
        devices.stream()
                .filter(uuid -> state.device(uuid).isPresent())
                .forEach(uuid -> emit(new NodeStateChange.HistoryChanged(
                        uuid, state.device(uuid).orElseThrow().history().attempted(action, within, at()))));
        if (devices.isEmpty()) {
            emit(new NodeStateChange.HistoryChanged("", state.faults().history().attempted(action, within, at())));
        }
    }

    /** Records a decision that changes nothing. */
    void recordUnchanged(DecisionContext context, String device, Status status, String action) {
        HealthState now = state.healthOf(device);
        decisions.add(new Decision(
                device,
                evidence(List.of()),
                evaluator.qualifiedName(context.rule()),
                new StateTransition(now, now),
                action,
                new Outcome(status, context.reason()),
                context.holders(),
                0));
    }

    /** Moves devices and node to the health that follows from the state so far. */
    void applyTransitions(HealthPolicy policy) {
        if (isSettled()) {
            return;
        }
        // A change makes another map.
        for (Device device : state.devices().values()) {
            transition(device, policy);
        }
        for (Device device : state.devices().values()) {
            if (device.forgettable()
                    && device.history().expired(policy.escalation().within(), at())) {
                emit(new NodeStateChange.DeviceForgotten(device.uuid()));
            }
        }
        NodeHealth health = evaluator.nodeHealth(state, at());
        if (!health.equalsIgnoringSince(state.health())) {
            emit(new NodeStateChange.NodeHealthChanged(health));
        }
    }

    /** True for a healthy node on which nothing is open, as most are: no transition follows from that. */
    private boolean isSettled() {
        if (state.quarantine() != null
                || !state.episodes().isEmpty()
                || !state.health().equalsIgnoringSince(NodeHealth.healthy(at()))) {
            return false;
        }
        for (Device device : state.devices().values()) {
            if (!(device.health() instanceof DeviceHealth.Healthy)
                    || device.lost()
                    || !device.listed()
                    || !device.locallyHealthy()
                    || !device.episodes().isEmpty()
                    || device.forgettable()) {
                return false;
            }
        }
        return true;
    }

    /** Applies transitions, compares with the state before, and collects decisions and the verdict. */
    DecisionResult finish(DecisionContext context, HealthPolicy policy, Instant now, PermittedActions allowance) {
        for (Device device : state.devices().values()) {
            if (device.onlyByHand(state.boot().id())) {
                emit(new NodeStateChange.DeviceDeparted(device.uuid(), at()));
            }
        }
        applyTransitions(policy);
        clearOverride(now);
        var heldBack = HeldBackDecisions.of(before, state, allowance, at());
        if (!heldBack.equals(state.heldBack())) {
            emit(new NodeStateChange.HeldBackChanged(heldBack));
        }
        if (state != before) {
            decideDevices(context, allowance);
            decideNode(context, allowance);
            new Drains(this).decide(before, context);
        }
        boolean taints = state.tainted() && !before.tainted();
        if (taints && state.quarantine() == null) {
            emit(new NodeStateChange.PolicyTainted(now));
        }
        boolean same = state == before || Verdict.same(before, state);
        if (!same || nodeFirstObserved()) {
            long revision = Math.max(state.revision() + 1, now.toEpochMilli());
            boolean newCause = hasNewCause() || taints;
            emit(new NodeStateChange.VerdictReached(new NodeState.Revisions(
                    revision, newCause && !same ? revision : state.revisions().cause())));
        }
        return same
                ? new DecisionResult(events, effects(0, List.of()), state)
                : new DecisionResult(
                        events,
                        effects(state.revision(), List.of(new Effect.PublishVerdict(Verdict.of(state)))),
                        state);
    }

    private boolean hasNewCause() {
        return !evaluator.taintCauses(before).containsAll(evaluator.taintCauses(state));
    }

    /** Such a Node may carry what was applied by a former log, which only a higher revision outranks. */
    private boolean nodeFirstObserved() {
        return before.node().uid().isEmpty() && !state.node().uid().isEmpty();
    }

    private List<Effect> effects(long revision, List<Effect> first) {
        var effects = new ArrayList<>(first);
        decisions.forEach(decision -> effects.add(new Effect.RecordDecision(decision.withRevision(revision))));
        return effects;
    }

    void transition(Device device, HealthPolicy policy) {
        DesiredDeviceHealth target = evaluator.targetHealth(state, device);
        DeviceHealth health = device.health();
        Duration dwell = evaluator.recoveryDwell(health.reason());
        DeviceHealth next = Transitions.next(health, target, dwell, at());
        while (!next.equals(health)
                && !(next instanceof DeviceHealth.Healthy && awaitsValidation(device.uuid(), policy))) {
            if (health instanceof DeviceHealth.Recovering && next instanceof DeviceHealth.Healthy) {
                emit(new NodeStateChange.HistoryChanged(
                        device.uuid(), device.history().trustedAgain(at())));
            }
            health = next;
            emit(new NodeStateChange.DeviceHealthChanged(device.uuid(), health));
            next = Transitions.next(health, target, dwell, at());
        }
    }

    private boolean awaitsValidation(String uuid, HealthPolicy policy) {
        return state.device(uuid)
                .filter(device -> state.awaitsValidation(device, policy.remediation()))
                .isPresent();
    }

    private void decideDevices(DecisionContext context, PermittedActions allowance) {
        state.devices().values().forEach(device -> decideDevice(context, device, allowance));
        for (Device device : before.devices().values()) {
            if (!state.devices().containsKey(device.uuid())) {
                decideDevice(context, device.with(new DeviceHealth.Healthy(at())), allowance);
            }
        }
        // What an operator decides about a device that is not there is recorded, too.
        for (NodeHardware.FormerDevice left : state.hardware().former().values()) {
            if (!before.devices().containsKey(left.device().uuid())) {
                decideDevice(context, left.device(), allowance);
            }
        }
    }

    private void decideDevice(DecisionContext context, Device device, PermittedActions allowance) {
        DeviceHealth to = device.health();
        Device known = before.device(device.uuid())
                .orElseGet(() -> Device.unknown(device.uuid(), new DeviceHealth.Healthy(at())));
        DeviceHealth from = known.health();
        HeldBack heldBack = state.heldBack().get(device.uuid());
        boolean sameHold = Objects.equals(heldBack, before.heldBack().get(device.uuid()));
        if (from.state() == to.state() && from.reason().equals(to.reason()) && sameHold) {
            return;
        }
        DeviceAction action = deviceAction(!before.withdrawn(known), !state.withdrawn(device));
        decisions.add(new Decision(
                device.uuid(),
                evidence(device.episodes().sequencedValues()),
                evaluator.ruleName(device.episodes().values(), context.rule()),
                new StateTransition(from.state(), to.state()),
                heldBack == null ? action.text : "none, would withdraw device: " + heldBack.by(),
                new Outcome(
                        heldBack == null
                                ? action == DeviceAction.NONE ? Status.RECORDED : Status.ACTED
                                : status(heldBack),
                        context.reason(),
                        (action == DeviceAction.WITHDRAW && !byHand(to)) || heldBack != null
                                ? allowance.deviceBudget()
                                : ""),
                context.holders(),
                0));
    }

    private void clearOverride(Instant now) {
        ManualOverride override = state.override();
        if (override == null) {
            return;
        }
        boolean expired = !now.isBefore(override.since().plus(ManualOverride.MAX_DURATION));
        boolean newerCause = evaluator
                .newestTaintCause(state)
                .map(since -> since.isAfter(override.since()))
                .orElse(true);
        boolean newCause = before.override() != null && hasNewCause();
        if (expired || newerCause || newCause || !state.health().outOfService()) {
            emit(new NodeStateChange.OverrideChanged(null));
        }
    }

    private void decideNode(DecisionContext context, PermittedActions allowance) {
        NodeHealth from = before.health();
        NodeHealth to = state.health();
        boolean newCause =
                to.outOfService() && (!from.outOfService() || !from.reason().equals(to.reason()));
        HeldBack heldBack = state.heldBack().get("");
        boolean sameHold = Objects.equals(heldBack, before.heldBack().get(""));
        if (before.tainted() == state.tainted() && !newCause && sameHold) {
            return;
        }
        TaintAction action = taintAction();
        String text = action.text(action == TaintAction.REMOVE ? from.nodeAction() : to.nodeAction());
        List<Episode> open = state.allEpisodes().toList();
        decisions.add(new Decision(
                "",
                evidence(open),
                evaluator.ruleName(open, context.rule()),
                new StateTransition(from.state(), to.state()),
                heldBack == null ? text : "none, would " + to.nodeAction().verb() + " node: " + heldBack.by(),
                new Outcome(
                        heldBack == null ? taintStatus(to, action) : status(heldBack),
                        nodeReason(to, context),
                        (action == TaintAction.APPLY && state.quarantine() == null) || heldBack != null
                                ? allowance.nodeBudget()
                                : ""),
                context.holders(),
                0));
    }

    /** Effect of a decision on a device. */
    private enum DeviceAction {
        WITHDRAW(Decision.WITHDRAW),
        TRUST(Decision.TRUST),
        NONE("none");

        private final String text;

        DeviceAction(String text) {
            this.text = text;
        }
    }

    /** Devices that operators keep out of service are exempt from budgets. */
    private static boolean byHand(DeviceHealth health) {
        return health instanceof DeviceHealth.Quarantined || health instanceof DeviceHealth.Retired;
    }

    private static DeviceAction deviceAction(boolean trustedBefore, boolean trusted) {
        if (trustedBefore == trusted) {
            return DeviceAction.NONE;
        }
        return trusted ? DeviceAction.TRUST : DeviceAction.WITHDRAW;
    }

    private static Status status(HeldBack heldBack) {
        return heldBack.observed() ? Status.OBSERVED : Status.OVER_BUDGET;
    }

    /** Effect of a decision on the taint of the node. */
    private enum TaintAction {
        APPLY,
        REMOVE,
        NONE;

        String text(NodeAction nodeAction) {
            return switch (this) {
                case APPLY -> nodeAction.taints() ? Decision.APPLY_TAINT : Decision.CORDON;
                case REMOVE -> nodeAction.taints() ? Decision.REMOVE_TAINT : Decision.UNCORDON;
                case NONE -> "none, manual override";
            };
        }
    }

    private static Status taintStatus(NodeHealth to, TaintAction action) {
        return to.outOfService() && action != TaintAction.APPLY ? Status.OVERRIDDEN : Status.ACTED;
    }

    private TaintAction taintAction() {
        if (state.tainted()) {
            return TaintAction.APPLY;
        }
        return before.tainted() ? TaintAction.REMOVE : TaintAction.NONE;
    }

    private static String nodeReason(NodeHealth health, DecisionContext context) {
        if (!health.outOfService()) {
            return context.reason();
        }
        return health.reason() + (context.reason().isEmpty() ? "" : ": " + context.reason());
    }

    private List<String> evidence(Iterable<Episode> episodes) {
        var ids = new LinkedHashSet<String>();
        if (!metadata.eventId().isEmpty()) {
            ids.add(metadata.eventId());
        }
        episodes.forEach(episode -> ids.add(episode.eventId()));
        return ids.stream().limit(Verdict.MAX_EVIDENCE).toList();
    }
}
