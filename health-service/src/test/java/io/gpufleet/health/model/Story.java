package io.gpufleet.health.model;

import io.gpufleet.health.model.HealthSignal.Heard;
import io.gpufleet.health.model.HealthSignal.ListedDevice;
import io.gpufleet.health.model.HealthSignal.OpenFault;
import io.gpufleet.health.model.HealthSignal.Speaker;
import io.gpufleet.health.model.HealthSignal.Word;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** What happens to one node, told in order; keeps the state and every conclusion. */
public final class Story {
    /** When every story begins. */
    public static final Instant START = Instant.parse("2026-03-01T10:00:00Z");

    /** The boot in which it begins. */
    public static final Speaker BOOT = new Speaker("boot-1", 1_000, false);

    private final HealthMachine machine;
    private final List<Conclusion> conclusions = new ArrayList<>();
    private NodeState state = NodeState.unknown("node-1", START);
    private Instant now = START;
    private Speaker speaker = BOOT;
    private Duration age = Duration.ZERO;
    private int events;

    /** A node of which nothing was heard. */
    public Story(HealthPolicy policy) {
        this.machine = new HealthMachine(policy, Duration.ofMinutes(10));
    }

    /** The state by now. */
    public NodeState state() {
        return state;
    }

    /** Now. */
    public Instant now() {
        return now;
    }

    /** The verdict by now. */
    public Verdict verdict() {
        return Verdict.of(state);
    }

    /** Conclusions so far. */
    public List<Conclusion> conclusions() {
        return conclusions;
    }

    /** Decisions of the last signal. */
    public List<Decision> lastDecisions() {
        return conclusions.getLast().decisions();
    }

    /** Health of a device. */
    public DeviceHealth health(String uuid) {
        return state.device(uuid).orElseThrow().health();
    }

    /** Time passes, unnoticed. */
    public Story after(Duration time) {
        now = now.plus(time);
        return this;
    }

    /** The daemon speaks from this boot from now on. */
    public Story from(Speaker another) {
        speaker = another;
        return this;
    }

    /** What follows is this old when it is heard. */
    public Story aged(Duration old) {
        age = old;
        return this;
    }

    /** A signal is heard. */
    public Story hear(HealthSignal signal) {
        Conclusion conclusion = machine.decide(state, signal, now);
        conclusions.add(conclusion);
        state = conclusion.state();
        return this;
    }

    /** How the next signal is heard. */
    public Heard heard() {
        now = now.plusMillis(1);
        events++;
        return new Heard("node-1/1000/health/" + events, now, age);
    }

    /** The node announces these devices. */
    public Story announced(String... uuids) {
        return hear(new HealthSignal.DevicesAnnounced(
                heard(),
                speaker,
                Stream.of(uuids)
                        .map(uuid -> new ListedDevice(uuid, "H100", false))
                        .toList()));
    }

    /** The node announces that one of its devices does not answer. */
    public Story announcedLost(String lost, String... others) {
        return hear(new HealthSignal.DevicesAnnounced(
                heard(),
                speaker,
                Stream.concat(
                                Stream.of(new ListedDevice(lost, "H100", true)),
                                Stream.of(others).map(uuid -> new ListedDevice(uuid, "H100", false)))
                        .toList()));
    }

    /** An XID is seen. */
    public Story xid(String uuid, int code) {
        return fault(uuid, FaultCode.xid(code), RecoveryAction.NONE);
    }

    /** A fault is seen. */
    public Story fault(String uuid, FaultCode code, RecoveryAction action) {
        return hear(new HealthSignal.FaultObserved(
                heard(), speaker, uuid, "H100", code, action, "NVRM: something", List.of()));
    }

    /** A fault is proven gone. */
    public Story cleared(String uuid, FaultCode code) {
        return hear(new HealthSignal.FaultCleared(heard(), speaker, uuid, code, "quiet for 5m"));
    }

    /** Exactly these faults are open. */
    public Story open(OpenFault... faults) {
        return hear(new HealthSignal.FaultsOpen(heard(), speaker, List.of(faults), Map.of()));
    }

    /** An open XID. */
    public static OpenFault openXid(String uuid, int code) {
        return new OpenFault(uuid, "H100", FaultCode.xid(code), RecoveryAction.NONE, 1);
    }

    /** An operator speaks of a device. */
    public Story spoke(Word word, String uuid) {
        return hear(new HealthSignal.OperatorSpoke(heard(), word, uuid, "ada", "because"));
    }

    /** The Node object is seen. */
    public Story nodeObject(String uid) {
        return hear(new HealthSignal.NodeObjectSeen(heard(), uid));
    }

    /** Somebody took the taint away. */
    public Story taintRemoved() {
        return hear(new HealthSignal.MarkRemoved(heard(), "taint", "unknown", state.revision()));
    }

    /** The clock is looked at. */
    public Story tick() {
        return hear(HealthSignal.TimePassed.at(now));
    }
}
