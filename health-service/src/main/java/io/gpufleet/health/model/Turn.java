package io.gpufleet.health.model;

import io.gpufleet.health.model.Conclusion.Effect;
import io.gpufleet.health.model.Decision.Outcome;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;

/** One signal being thought through: events are applied as they are made, so that what follows sees them. */
final class Turn {
    private final NodeState before;
    private final Judge judge;
    private final HealthSignal.Heard heard;
    private final List<HealthEvent> events = new ArrayList<>();
    private final List<Decision> decisions = new ArrayList<>();
    private NodeState state;
    private String why = "";
    private String rule = "recovery";
    private List<HealthSignal.Holder> holders = List.of();

    Turn(NodeState before, Judge judge, HealthSignal.Heard heard) {
        this.before = before;
        this.state = before;
        this.judge = judge;
        this.heard = heard;
    }

    /** The state as far as it is thought through. */
    NodeState state() {
        return state;
    }

    /** When the signal was appended. */
    Instant at() {
        return heard.at();
    }

    void emit(HealthEvent event) {
        events.add(event);
        state = Evolution.apply(state, event);
    }

    /** What decisions of this turn give as their reason, and as their rule where no open fault gives one. */
    void because(String reason, String ruleOtherwise) {
        why = reason;
        rule = ruleOtherwise;
    }

    void heldBy(List<HealthSignal.Holder> pods) {
        holders = pods;
    }

    /** A decision that changes nothing. */
    void onRecord(String device, String ruleName, Outcome outcome, String action) {
        HealthState now = stateOf(state, device);
        decisions.add(new Decision(
                device, evidence(List.of()), judge.named(ruleName), now, now, action, outcome, why, holders, 0));
    }

    /** Lets devices and node follow from what is known now. */
    void move(Duration dwell) {
        List.copyOf(state.devices().sequencedValues()).forEach(device -> follow(device, dwell));
        List.copyOf(state.devices().sequencedValues()).stream()
                .filter(Device::forgettable)
                .forEach(device -> emit(new HealthEvent.DeviceForgotten(device.uuid())));
        NodeStanding standing = judge.standing(state, at());
        if (!standing.saysAs(state.standing())) {
            emit(new HealthEvent.NodeMoved(standing));
        }
    }

    /** Lets everything follow, and says what became of it. */
    Conclusion conclude(Duration dwell, Instant now) {
        move(dwell);
        lowerHand(now);
        state.devices().values().forEach(this::decideDevice);
        before.devices().values().stream()
                .filter(device -> state.device(device.uuid()).isEmpty())
                .forEach(device -> decideDevice(device.with(new DeviceHealth.Healthy(at()))));
        decideNode();
        Verdict verdict = Verdict.of(state);
        if (verdict.saysAs(Verdict.of(before))) {
            return new Conclusion(events, effects(0, List.of()), state);
        }
        emit(new HealthEvent.VerdictReached(state.revision() + 1));
        return new Conclusion(events, effects(state.revision(), List.of(new Effect.Publish(Verdict.of(state)))), state);
    }

    private List<Effect> effects(long revision, List<Effect> first) {
        var effects = new ArrayList<>(first);
        decisions.forEach(decision -> effects.add(new Effect.PutOnRecord(decision.carriedBy(revision))));
        return effects;
    }

    private void follow(Device device, Duration dwell) {
        Aim aim = judge.aim(device);
        DeviceHealth health = device.health();
        DeviceHealth next = Course.step(health, aim, dwell, at());
        while (!next.equals(health)) {
            health = next;
            emit(new HealthEvent.DeviceMoved(device.uuid(), health));
            next = Course.step(health, aim, dwell, at());
        }
    }

    private void decideDevice(Device device) {
        DeviceHealth now = device.health();
        DeviceHealth then =
                before.device(device.uuid()).map(Device::health).orElseGet(() -> new DeviceHealth.Healthy(at()));
        if (then.state() == now.state() && then.reason().equals(now.reason())) {
            return;
        }
        boolean acts = then.trusted() != now.trusted();
        String action = !acts ? "none" : now.trusted() ? "trust device again" : "withdraw device";
        decisions.add(new Decision(
                device.uuid(),
                evidence(device.episodes().sequencedValues()),
                judge.ruleName(device.episodes().values(), rule),
                then.state(),
                now.state(),
                action,
                acts ? Outcome.ACTED : Outcome.RECORDED,
                why,
                holders,
                0));
    }

    private void lowerHand(Instant now) {
        OperatorHand hand = state.hand();
        if (hand == null) {
            return;
        }
        boolean tooLong = !now.isBefore(hand.since().plus(OperatorHand.LONGEST));
        boolean newer = judge.newestMark(state)
                .map(since -> since.isAfter(hand.since()))
                .orElse(true);
        if (tooLong || newer || !state.standing().out()) {
            emit(new HealthEvent.HandSet(null));
        }
    }

    private void decideNode() {
        boolean wore = wears(before);
        boolean wears = wears(state);
        NodeStanding then = before.standing();
        NodeStanding now = state.standing();
        boolean outOtherwise = now.out() && (!then.out() || !then.reason().equals(now.reason()));
        if (wore == wears && !outOtherwise) {
            return;
        }
        String action = wears ? "taint node" : wore ? "remove taint" : "none, an operator took the mark away";
        List<Episode> open = state.allEpisodes().toList();
        decisions.add(new Decision(
                "",
                evidence(open),
                judge.ruleName(open, rule),
                then.state(),
                now.state(),
                action,
                now.out() && !wears ? Outcome.OVERRIDDEN : Outcome.ACTED,
                now.out() ? now.reason() + (why.isEmpty() ? "" : ": " + why) : why,
                holders,
                0));
    }

    private static boolean wears(NodeState state) {
        return state.standing().out() && state.hand() == null;
    }

    private List<String> evidence(Iterable<Episode> episodes) {
        var ids = new LinkedHashSet<String>();
        if (!heard.eventId().isEmpty()) {
            ids.add(heard.eventId());
        }
        episodes.forEach(episode -> ids.add(episode.eventId()));
        return ids.stream().limit(8).toList();
    }

    private static HealthState stateOf(NodeState state, String device) {
        return device.isEmpty()
                ? state.standing().state()
                : state.device(device).map(known -> known.health().state()).orElse(HealthState.HEALTHY);
    }
}
