package io.gpufleet.health.kafka;

import com.google.protobuf.Message;
import io.gpufleet.health.app.CatchUpStatus;
import io.gpufleet.health.model.DecisionResult;
import io.gpufleet.health.model.FleetCommandDecider;
import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.health.model.HealthSignal;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.admission.FleetAdmission;
import io.gpufleet.health.model.budget.DisruptionBudgets;
import io.gpufleet.health.model.move.DeviceMoves;
import io.gpufleet.health.model.presence.Presence;
import io.gpufleet.health.model.presence.SilenceDetector;
import io.gpufleet.proto.health.v1.NodeHealthState;
import io.gpufleet.runtime.projection.Effects;
import io.gpufleet.runtime.projection.Inbound;
import io.gpufleet.runtime.projection.Outbound;
import io.gpufleet.runtime.projection.Progress;
import io.gpufleet.runtime.projection.Projection;
import io.gpufleet.runtime.projection.ProjectionSpec;
import io.gpufleet.runtime.projection.States;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/** Projection of the input topics onto node states: what {@link HealthMachine} decides, as states and records. */
public final class HealthProjection implements Projection<NodeState> {
    private static final ProjectionSpec SPEC = new ProjectionSpec(
            Topic.HEALTH_STATE,
            EventType.HEALTH_CHANGED,
            1,
            Set.of(Topic.HEALTH, Topic.SIGNALS, Topic.INVENTORY, Topic.ALLOCATION),
            Set.of(Topic.TELEMETRY),
            Set.of(Topic.VERDICTS, Topic.DECISIONS));

    private final Supplier<HealthMachine> policy;
    private final Supplier<DisruptionBudgets> pools;
    /** Machine and budgets of the last decision. */
    private HealthMachine machine;

    private DisruptionBudgets protection;
    private final FactWarnings warnings = new FactWarnings();
    private final FleetIndex fleet;
    private final BacklogProgress backlog;

    /** Projection that tells nobody about its backlog. */
    public HealthProjection(HealthMachine machine, DisruptionBudgets protection) {
        this(() -> machine, () -> protection, new CatchUpStatus());
    }

    /**
     * Projection by the decisions of a machine, as far as the protection lets them be carried out.
     *
     * @param policy the one in force, which may be replaced at any time
     * @param pools as well
     * @param backlog told when a term begins and when its backlog is read
     */
    public HealthProjection(Supplier<HealthMachine> policy, Supplier<DisruptionBudgets> pools, CatchUpStatus backlog) {
        this.backlog = new BacklogProgress(backlog, SPEC.inputs());
        this.policy = policy;
        this.machine = policy.get();
        this.pools = pools;
        this.protection = pools.get();
        this.fleet = new FleetIndex(protection);
    }

    @Override
    public void restarted(States<NodeState> states, Instant now) {
        backlog.begin();
        fleet.restarted(states, now);
    }

    @Override
    public void undone(Set<String> keys, States<NodeState> states) {
        fleet.undone(keys, states);
    }

    @Override
    public Collection<String> due(States<NodeState> states, Progress progress, Instant now) {
        backlog.tick(progress, now);
        review(states);
        var readFor = new HashMap<Integer, Duration>();
        return fleet.due(
                states, node -> readFor.computeIfAbsent(partitionOf(node), _ -> readFor(node, progress, now)), now);
    }

    /** Partition of a node in every input. */
    public static int partitionOf(String node) {
        return Topic.HEALTH.partitionOf(node);
    }

    private static Duration readFor(String node, Progress progress, Instant now) {
        Duration samples = progress.caughtUpFor(Topic.TELEMETRY, node, now);
        Duration announcements = progress.caughtUpFor(Topic.INVENTORY, node, now);
        return samples.compareTo(announcements) < 0 ? samples : announcements;
    }

    /** Every node is decided about again after the policy or the pools were replaced. */
    private void review(States<NodeState> states) {
        HealthMachine newest = policy.get();
        DisruptionBudgets budgets = pools.get();
        if (newest != machine || budgets != protection) {
            machine = newest;
            protection = budgets;
            fleet.review(budgets, states);
        }
    }

    @Override
    public ProjectionSpec spec() {
        return SPEC;
    }

    @Override
    public NodeState read(String node, Message state) {
        return StateMapper.toModel(node, (NodeHealthState) state);
    }

    @Override
    public Message write(String node, NodeState state) {
        return StateMapper.toWire(state);
    }

    @Override
    public Effects<NodeState> on(States<NodeState> states, Inbound input, Instant now) {
        return switch (input) {
            case Inbound.Event event -> {
                if (event.envelope().source() instanceof EventSource.Node) {
                    fleet.heard(event.key(), now);
                    warnings.check(event);
                }
                yield SignalMapper.toModel(event, now)
                        .flatMap(signal ->
                                FleetAdmission.admitted(policy.get().policy(), event.key(), signal, states::forEach))
                        .map(signal -> on(states, signal, event, now))
                        .orElse(Effects.none());
            }
            case Inbound.Heartbeat heartbeat -> heartbeat(states, heartbeat, now);
            case Inbound.Tombstone _ -> Effects.none();
        };
    }

    /** Only what ends a silence changes a state. */
    private Effects<NodeState> heartbeat(States<NodeState> states, Inbound.Heartbeat heartbeat, Instant now) {
        String node = heartbeat.key();
        Duration age = Duration.between(heartbeat.appendedAt(), now);
        if (age.compareTo(SilenceDetector.SILENT_AFTER) >= 0) {
            return Effects.none();
        }
        fleet.heard(node, now);
        return states.get(node)
                .filter(state -> state.node().presence().daemon() == Presence.Daemon.SILENT)
                .map(state -> effects(decide(state, silence(false, heartbeat.appendedAt()), now), now, ""))
                .orElse(Effects.none());
    }

    private static HealthSignal silence(boolean silent, Instant at) {
        return new HealthSignal.DaemonSilence(new HealthSignal.EventMetadata("", at, Duration.ZERO), silent);
    }

    private Effects<NodeState> on(States<NodeState> states, HealthSignal signal, Inbound.Event event, Instant now) {
        if (event.key().equals(FleetCommandDecider.FLEET)) {
            return signal instanceof HealthSignal.CommandIssued command
                            && FleetCommandDecider.concernsFleet(command.command())
                    ? fleetCommand(states, command, event, now)
                    : Effects.none();
        }
        Effects<NodeState> moved = signal instanceof HealthSignal.DevicesAnnounced announced
                ? moved(
                        new DeviceMoves(fleet.locations(), states::get, event.key(), announced)
                                .before(warnings::twoClaims),
                        Effects.none(),
                        states,
                        event,
                        now)
                : Effects.none();
        NodeState before = Optional.ofNullable(moved.states().get(event.key()))
                .or(() -> states.get(event.key()))
                .orElseGet(() -> NodeState.unknown(event.key(), event.appendedAt()));
        DecisionResult result = decide(before, signal, now);
        boolean forgotten = signal instanceof HealthSignal.CommandIssued command
                && command.command() == HealthSignal.Command.FORGET
                && result.state().node().absent();
        Effects<NodeState> effects = moved.then(effects(result, now, event.traceparent()));
        if (signal instanceof HealthSignal.DevicesAnnounced announced) {
            var left = new DeviceMoves(fleet.locations(), node -> state(effects, states, node), event.key(), announced);
            return moved(left.after(), effects, states, event, now);
        }
        return forgotten ? effects.then(forget(event.key())) : effects;
    }

    private static Optional<NodeState> state(Effects<NodeState> effects, States<NodeState> states, String node) {
        return Optional.ofNullable(effects.states().get(node)).or(() -> states.get(node));
    }

    private Effects<NodeState> fleetCommand(
            States<NodeState> states, HealthSignal.CommandIssued command, Inbound.Event event, Instant now) {
        String budget = "";
        if (command.command() == HealthSignal.Command.RESET_BRAKE) {
            budget = fleet.openBrake(now);
        }
        DecisionResult result = FleetCommandDecider.decide(states.get(FleetCommandDecider.FLEET), command, budget, now);
        fleet.freeze(Optional.of(result.state()));
        return effects(result, now, event.traceparent());
    }

    /** Moves the state of devices to the node that has them now, in the same transaction. */
    private Effects<NodeState> moved(
            List<DeviceMoves.NodeSignal> signals,
            Effects<NodeState> before,
            States<NodeState> states,
            Inbound.Event event,
            Instant now) {
        Effects<NodeState> effects = before;
        for (DeviceMoves.NodeSignal moved : signals) {
            NodeState node = state(effects, states, moved.node())
                    .orElseGet(() -> NodeState.unknown(moved.node(), event.appendedAt()));
            effects = effects.then(effects(decide(node, moved.signal(), now), now, event.traceparent()));
        }
        return effects;
    }

    private Effects<NodeState> forget(String node) {
        fleet.forget(node);
        return Effects.forget(node, List.of(new Outbound.Tombstone(Topic.VERDICTS, node)));
    }

    @Override
    public List<Inbound.Event> samples(Instant now) {
        return SampleEvents.of(now);
    }

    @Override
    public Instant wakeAt(NodeState state) {
        return machine.changesAt(state);
    }

    @Override
    public Effects<NodeState> tick(String node, States<NodeState> states, Instant now) {
        if (node.equals(FleetCommandDecider.FLEET)) {
            return states.get(node)
                    .flatMap(FleetCommandDecider::withoutBrake)
                    .map(left -> Effects.state(node, left, List.of()))
                    .orElseGet(() -> Effects.forget(node, List.of()));
        }
        boolean forgettable = states.get(node)
                .flatMap(NodeState::forgettableAt)
                .filter(at -> !at.isAfter(now))
                .isPresent();
        if (forgettable) {
            return forget(node);
        }
        NodeState before = states.get(node).orElseGet(() -> NodeState.unknown(node, now));
        HealthSignal signal = fleet.isSilent(node) ? silence(true, now) : HealthSignal.TimePassed.at(now);
        DecisionResult result = decide(before, signal, now);
        return effects(result, now, "");
    }

    private DecisionResult decide(NodeState before, HealthSignal signal, Instant now) {
        DecisionResult result = machine.decide(before, signal, now, fleet.allowance(before, now));
        fleet.decided(before, result.state());
        return result;
    }

    private static Effects<NodeState> effects(DecisionResult result, Instant now, String traceparent) {
        List<Outbound.Event> outputs = OutboundMapper.toWire(result, now, traceparent);
        return result.events().isEmpty()
                ? Effects.publish(outputs)
                : Effects.state(result.state().node().name(), result.state(), outputs);
    }
}
