package io.gpufleet.health.model;

import io.gpufleet.health.model.Decision.Outcome;
import io.gpufleet.health.model.HealthSignal.DevicesAnnounced;
import io.gpufleet.health.model.HealthSignal.FaultCleared;
import io.gpufleet.health.model.HealthSignal.FaultObserved;
import io.gpufleet.health.model.HealthSignal.FaultsOpen;
import io.gpufleet.health.model.HealthSignal.ListedDevice;
import io.gpufleet.health.model.HealthSignal.MarkRemoved;
import io.gpufleet.health.model.HealthSignal.NodeObjectGone;
import io.gpufleet.health.model.HealthSignal.NodeObjectSeen;
import io.gpufleet.health.model.HealthSignal.OfDaemon;
import io.gpufleet.health.model.HealthSignal.OfferChanged;
import io.gpufleet.health.model.HealthSignal.OpenFault;
import io.gpufleet.health.model.HealthSignal.OperatorSpoke;
import io.gpufleet.health.model.HealthSignal.TimePassed;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * {@code decide(state, signal, now) -> events + effects}. Stale is not now: what a former boot said, and an edge older
 * than {@code maxActionAge}, changes the record and takes nothing out of service. Whatever puts back is never too old.
 */
public final class HealthMachine {
    /** A node that tells of more devices than this is not believed about the further ones. */
    public static final int MOST_DEVICES = 256;

    private final HealthPolicy policy;
    private final Judge judge;
    private final Duration maxActionAge;

    /** A machine that judges by the policy. */
    public HealthMachine(HealthPolicy policy, Duration maxActionAge) {
        this.policy = policy;
        this.judge = new Judge(policy);
        this.maxActionAge = maxActionAge;
    }

    /** What follows from a signal; changes nothing by itself. */
    public Conclusion decide(NodeState state, HealthSignal signal, Instant now) {
        var turn = new Turn(state, judge, signal.heard());
        if (!(signal instanceof OfDaemon said) || ofThisBoot(turn, said)) {
            hear(turn, signal);
        }
        return turn.conclude(policy.recoveryDwell(), now);
    }

    private void hear(Turn turn, HealthSignal signal) {
        switch (signal) {
            case FaultObserved observed -> observed(turn, observed);
            case FaultCleared cleared -> cleared(turn, cleared);
            case FaultsOpen open -> open(turn, open);
            case OfferChanged offer -> opinion(turn, offer.device(), offer.locallyHealthy());
            case DevicesAnnounced announced -> announced(turn, announced);
            case NodeObjectSeen seen -> seen(turn, seen);
            case NodeObjectGone gone -> gone(turn, gone);
            case MarkRemoved removed -> removed(turn, removed);
            case OperatorSpoke spoke -> new Hands(turn).spoke(spoke);
            case TimePassed _ -> turn.because("time passed", "recovery");
        }
    }

    /** Learns a newer boot; false for what a boot said that is over. */
    private boolean ofThisBoot(Turn turn, OfDaemon said) {
        HealthSignal.Speaker speaker = said.speaker();
        NodeState.Boot known = turn.state().boot();
        if (speaker.id().equals(known.id())) {
            if (speaker.epoch() > known.epoch()) {
                turn.emit(new HealthEvent.BootLearned(new NodeState.Boot(known.id(), speaker.epoch())));
            }
            return true;
        }
        if (speaker.newMachine() || speaker.epoch() > known.epoch()) {
            turn.because("boot " + speaker.id() + " began", "boot-changed");
            turn.emit(new HealthEvent.BootLearned(new NodeState.Boot(speaker.id(), speaker.epoch())));
            endAllBut(turn, Set.of());
            turn.state().devices().keySet().forEach(uuid -> opinion(turn, uuid, true));
            // What is said of the new boot is not coloured by what the old one was blamed for.
            turn.move(policy.recoveryDwell());
            return true;
        }
        if (said instanceof FaultObserved fault) {
            turn.because("boot " + speaker.id() + " is over", "recovery");
            String rule = policy.rule(fault.code(), fault.action()).name();
            turn.onRecord(fault.device(), rule, Outcome.STALE, "none, it is of a former boot");
        }
        return false;
    }

    private boolean stale(HealthSignal signal) {
        return signal.heard().age().compareTo(maxActionAge) > 0;
    }

    private void observed(Turn turn, FaultObserved fault) {
        Rule rule = policy.rule(fault.code(), fault.action());
        turn.because(fault.message(), rule.name());
        turn.heldBy(fault.holders());
        Episode known = turn.state().episodesOf(fault.device()).get(fault.code());
        if (rule.effect() == FaultClass.IGNORE) {
            if (known != null) {
                turn.emit(new HealthEvent.EpisodeEnded(fault.device(), fault.code()));
            }
            turn.onRecord(fault.device(), rule.name(), Outcome.RECORDED, action(rule));
            return;
        }
        boolean stale = stale(fault);
        var seen = new OpenFault(
                fault.device(),
                fault.model(),
                fault.code(),
                fault.action(),
                known == null ? 1 : known.observations() + 1);
        boolean newlyActs = keep(turn, fault, seen, !stale);
        if (stale && known == null) {
            turn.onRecord(
                    fault.device(),
                    rule.name(),
                    Outcome.STALE,
                    "none, it is " + fault.heard().age().toSeconds() + " s old");
        } else if (newlyActs && rule.effect() == FaultClass.SUSPECT) {
            turn.onRecord(fault.device(), rule.name(), Outcome.RECORDED, action(rule));
        }
    }

    /** Opens the episode, or adds to it; true when it acts now and did not before. */
    private boolean keep(Turn turn, OfDaemon said, OpenFault fault, boolean acts) {
        if (!believed(turn, fault.device())) {
            return false;
        }
        Episode known = turn.state().episodesOf(fault.device()).get(fault.code());
        var next = known == null
                ? new Episode(
                        fault.code(),
                        fault.action(),
                        turn.at(),
                        Math.max(1, fault.observations()),
                        said.speaker().id(),
                        said.heard().eventId(),
                        acts)
                : new Episode(
                        fault.code(),
                        fault.action(),
                        known.since(),
                        Math.max(known.observations(), fault.observations()),
                        said.speaker().id(),
                        known.eventId(),
                        known.acts() || acts);
        if (!next.equals(known)) {
            turn.emit(new HealthEvent.EpisodeKept(fault.device(), next));
        }
        turn.state()
                .device(fault.device())
                .filter(device -> !fault.model().isEmpty() && !device.model().equals(fault.model()))
                .ifPresent(device -> turn.emit(
                        new HealthEvent.DeviceHeardOf(device.uuid(), fault.model(), device.listed(), device.lost())));
        return acts && (known == null || !known.acts());
    }

    private void cleared(Turn turn, FaultCleared cleared) {
        turn.because("proven gone: " + cleared.proof(), "recovery");
        if (turn.state().episodesOf(cleared.device()).containsKey(cleared.code())) {
            turn.emit(new HealthEvent.EpisodeEnded(cleared.device(), cleared.code()));
        }
    }

    private void open(Turn turn, FaultsOpen snapshot) {
        turn.because("as listed open", "recovery");
        var listed = new HashSet<Place>();
        for (OpenFault fault : snapshot.faults()) {
            if (policy.rule(fault.code(), fault.action()).effect() != FaultClass.IGNORE) {
                listed.add(new Place(fault.device(), fault.code()));
                keep(turn, snapshot, fault, !stale(snapshot));
            }
        }
        endAllBut(turn, listed);
        snapshot.opinions().forEach((device, healthy) -> opinion(turn, device, healthy));
    }

    /** One fault of one device, or of the node. */
    private record Place(String device, FaultCode code) {}

    private static void endAllBut(Turn turn, Set<Place> open) {
        NodeState state = turn.state();
        List.copyOf(state.episodes().keySet()).stream()
                .filter(code -> !open.contains(new Place("", code)))
                .forEach(code -> turn.emit(new HealthEvent.EpisodeEnded("", code)));
        state.devices()
                .values()
                .forEach(device -> device.episodes().keySet().stream()
                        .filter(code -> !open.contains(new Place(device.uuid(), code)))
                        .forEach(code -> turn.emit(new HealthEvent.EpisodeEnded(device.uuid(), code))));
    }

    private static void opinion(Turn turn, String uuid, boolean healthy) {
        boolean known = turn.state().device(uuid).map(Device::locallyHealthy).orElse(true);
        if (known != healthy && believed(turn, uuid)) {
            turn.emit(new HealthEvent.OpinionHeard(uuid, healthy));
        }
    }

    private static void announced(Turn turn, DevicesAnnounced announced) {
        turn.because("announced", "announced");
        var present = new HashSet<String>();
        for (ListedDevice device : announced.devices()) {
            present.add(device.uuid());
            boolean news = turn.state()
                    .device(device.uuid())
                    .map(known -> !known.listed()
                            || known.lost() != device.lost()
                            || !known.model().equals(device.model()))
                    .orElse(true);
            if (news && believed(turn, device.uuid())) {
                turn.emit(new HealthEvent.DeviceHeardOf(device.uuid(), device.model(), true, device.lost()));
            }
        }
        turn.state().devices().values().stream()
                .filter(device -> device.listed() && !present.contains(device.uuid()))
                .forEach(device ->
                        turn.emit(new HealthEvent.DeviceHeardOf(device.uuid(), device.model(), false, false)));
    }

    private static void seen(Turn turn, NodeObjectSeen seen) {
        String known = turn.state().nodeUid();
        if (known.equals(seen.uid())) {
            return;
        }
        turn.because("the Node object is another one", "node-object");
        turn.emit(new HealthEvent.NodeObjectLearned(seen.uid()));
        if (!known.isEmpty()) {
            // What was said of a Node is not said of the next machine of that name.
            if (turn.state().hand() != null) {
                turn.emit(new HealthEvent.HandSet(null));
            }
            if (turn.state().quarantine() != null) {
                turn.emit(new HealthEvent.QuarantineSet(null));
            }
        }
    }

    private static void gone(Turn turn, NodeObjectGone gone) {
        if (!gone.uid().isEmpty()
                && gone.uid().equals(turn.state().nodeUid())
                && turn.state().hand() != null) {
            turn.because("the Node object is gone", "node-object");
            turn.emit(new HealthEvent.HandSet(null));
        }
    }

    private static void removed(Turn turn, MarkRemoved removed) {
        NodeState state = turn.state();
        if (state.standing().out() && state.hand() == null && removed.revision() <= state.revision()) {
            turn.because(removed.mark() + " taken away by " + removed.by(), "operators-hand");
            turn.emit(new HealthEvent.HandSet(new OperatorHand(turn.at(), removed.by(), removed.mark())));
        }
    }

    private static boolean believed(Turn turn, String uuid) {
        NodeState state = turn.state();
        return uuid.isEmpty()
                || state.devices().containsKey(uuid)
                || state.devices().size() < MOST_DEVICES;
    }

    private static String action(Rule rule) {
        return rule.step() == NextStep.NONE
                ? "none"
                : "none; due: " + rule.step().word();
    }
}
