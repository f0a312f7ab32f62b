package io.gpufleet.health.model;

import io.gpufleet.health.model.HealthSignal.AnnouncedDevice;
import io.gpufleet.health.model.HealthSignal.Command;
import io.gpufleet.health.model.HealthSignal.DaemonIncarnation;
import io.gpufleet.health.model.HealthSignal.DaemonKnowledge;
import io.gpufleet.health.model.HealthSignal.EventMetadata;
import io.gpufleet.health.model.HealthSignal.OpenFault;
import io.gpufleet.health.model.HealthSignal.ReportedFault;
import io.gpufleet.health.model.budget.PermittedActions;
import io.gpufleet.health.model.device.Device;
import io.gpufleet.health.model.device.DeviceHealth;
import io.gpufleet.health.model.fault.DaemonWithdrawal;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.fault.FaultReport;
import io.gpufleet.health.model.fault.RecoveryAction;
import io.gpufleet.health.model.policy.HealthPolicy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** A sequence of signals of one node; keeps the state and every result. */
public final class NodeScenario {
    /** Start of every scenario. */
    public static final Instant START = Instant.parse("2026-03-01T10:00:00Z");

    /** The first boot. */
    public static final DaemonIncarnation INCARNATION = new DaemonIncarnation("boot-1", 1_000, false);

    /** What a test GPU is. */
    public static final Device.Identity H100 = new Device.Identity("H100", "", "");

    /** A daemon that has kept its set of GPUs. */
    public static final DaemonKnowledge KNOWN = new DaemonKnowledge(START, true);

    private DaemonKnowledge knowledge = KNOWN;
    private final HealthMachine machine;
    private final List<DecisionResult> results = new ArrayList<>();
    private NodeState state;
    private Instant now = START;
    private DaemonIncarnation incarnation = INCARNATION;
    private Duration age = Duration.ZERO;
    private PermittedActions allowance = PermittedActions.ALL;
    private int events;

    /** A node before its first signal. */
    public NodeScenario(HealthPolicy policy) {
        this("node-1", policy);
    }

    /** A node of this name before its first signal. */
    public NodeScenario(String name, HealthPolicy policy) {
        this.machine = new HealthMachine(policy, Duration.ofMinutes(10));
        this.state = NodeState.unknown(name, START);
    }

    /** Current state. */
    public NodeState state() {
        return state;
    }

    /** Current time. */
    public Instant now() {
        return now;
    }

    /** Current verdict. */
    public Verdict verdict() {
        return Verdict.of(state);
    }

    /** Results so far. */
    public List<DecisionResult> results() {
        return results;
    }

    /** Decisions of the last signal. */
    public List<Decision> lastDecisions() {
        return results.getLast().decisions();
    }

    /** Health of a device. */
    public DeviceHealth health(String uuid) {
        return state.device(uuid).orElseThrow().health();
    }

    /** Advances the time without a signal. */
    public NodeScenario advance(Duration time) {
        now = now.plus(time);
        return this;
    }

    /** Boot and incarnation of the following daemon signals. */
    public NodeScenario withIncarnation(DaemonIncarnation another) {
        incarnation = another;
        return this;
    }

    /** Age of the following signals. */
    public NodeScenario withAge(Duration old) {
        age = old;
        return this;
    }

    /** What the following decisions may do. */
    public NodeScenario with(PermittedActions another) {
        allowance = another;
        return this;
    }

    /** Decides on a signal. */
    public NodeScenario handle(HealthSignal signal) {
        DecisionResult result = machine.decide(state, signal, now, allowance);
        results.add(result);
        state = result.state();
        return this;
    }

    /** Metadata of the next signal. */
    public EventMetadata nextMetadata() {
        now = now.plusMillis(1);
        events++;
        return new EventMetadata("node-1/1000/health/" + events, now, age);
    }

    /** The node announces these devices. */
    public NodeScenario announced(String... uuids) {
        return handle(new HealthSignal.DevicesAnnounced(
                nextMetadata(),
                incarnation,
                Stream.of(uuids)
                        .map(uuid -> new AnnouncedDevice(uuid, H100, false))
                        .toList(),
                knowledge));
    }

    /** The node announces a lost device and others. */
    public NodeScenario announcedLost(String lost, String... others) {
        return handle(new HealthSignal.DevicesAnnounced(
                nextMetadata(),
                incarnation,
                Stream.concat(
                                Stream.of(new AnnouncedDevice(lost, H100, true)),
                                Stream.of(others).map(uuid -> new AnnouncedDevice(uuid, H100, false)))
                        .toList(),
                knowledge));
    }

    /** What the daemon says about its own set of GPUs from now on. */
    public NodeScenario with(DaemonKnowledge another) {
        knowledge = another;
        return this;
    }

    /** An XID is observed. */
    public NodeScenario xid(String uuid, int code) {
        return fault(uuid, FaultCode.xid(code), RecoveryAction.NONE);
    }

    /** A fault is observed. */
    public NodeScenario fault(String uuid, FaultCode code, RecoveryAction action) {
        return handle(new HealthSignal.FaultObserved(
                nextMetadata(), incarnation, reported(uuid, code, action), "NVRM: something", List.of()));
    }

    /** A fault as a daemon reports it that does not say what it does about it. */
    public static ReportedFault reported(String uuid, FaultCode code, RecoveryAction action) {
        return new ReportedFault(uuid, "H100", code, FaultReport.of(action));
    }

    /** A fault is observed, about which the daemon decided so. */
    public NodeScenario fault(String uuid, FaultCode code, DaemonWithdrawal withdrawal) {
        var report = new FaultReport(RecoveryAction.NONE, withdrawal, "");
        return handle(new HealthSignal.FaultObserved(
                nextMetadata(),
                incarnation,
                new ReportedFault(uuid, "H100", code, report),
                "NVRM: something",
                List.of()));
    }

    /** The daemon offers the device, or does not. */
    public NodeScenario offered(String uuid, boolean healthy) {
        return handle(new HealthSignal.LocalHealthChanged(nextMetadata(), incarnation, uuid, healthy));
    }

    /** A fault is proven gone. */
    public NodeScenario cleared(String uuid, FaultCode code) {
        return handle(new HealthSignal.FaultCleared(nextMetadata(), incarnation, uuid, code, "quiet for 5m"));
    }

    /** A snapshot lists exactly these faults as open. */
    public NodeScenario open(OpenFault... faults) {
        return handle(new HealthSignal.FaultsOpen(nextMetadata(), incarnation, List.of(faults), Map.of(), 0));
    }

    /** A snapshot of a daemon that knows no fault from before this incarnation; it offers the devices of the map, or not. */
    public NodeScenario openSince(long epoch, Map<String, Boolean> locallyHealthy, OpenFault... faults) {
        return handle(new HealthSignal.FaultsOpen(nextMetadata(), incarnation, List.of(faults), locallyHealthy, epoch));
    }

    /** An open XID. */
    public static OpenFault openXid(String uuid, int code) {
        return new OpenFault(reported(uuid, FaultCode.xid(code), RecoveryAction.NONE), 1);
    }

    /** An operator issues a command about a device, or about the node when the UUID is empty. */
    public NodeScenario command(Command command, String uuid) {
        return handle(new HealthSignal.CommandIssued(nextMetadata(), command, uuid, "ada", "because"));
    }

    /** The Node object is observed. */
    public NodeScenario nodeObserved(String uid) {
        return nodeObserved(uid, Map.of());
    }

    /** The Node object is observed with labels. */
    public NodeScenario nodeObserved(String uid, Map<String, String> labels) {
        return handle(
                new HealthSignal.NodeObjectObserved(nextMetadata(), uid, new NodeReference.Placement(labels, true)));
    }

    /** The Node object is deleted. */
    public NodeScenario nodeDeleted(String uid) {
        return handle(new HealthSignal.NodeObjectDeleted(nextMetadata(), uid));
    }

    /** The taint was removed manually. */
    public NodeScenario taintRemoved() {
        return taintRemoved(state.revision());
    }

    /** The taint that was applied for this revision was removed manually. */
    public NodeScenario taintRemoved(long revision) {
        return handle(new HealthSignal.OverrideObserved(nextMetadata(), "taint", "unknown", revision));
    }

    /** A timer tick. */
    public NodeScenario tick() {
        return handle(HealthSignal.TimePassed.at(now));
    }
}
