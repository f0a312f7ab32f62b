package io.gpufleet.runtime.engine;

import com.google.protobuf.Message;
import io.gpufleet.proto.health.v1.DecisionTaken;
import io.gpufleet.proto.health.v1.DeviceHealthState;
import io.gpufleet.proto.health.v1.FaultObserved;
import io.gpufleet.proto.health.v1.NodeHealthState;
import io.gpufleet.runtime.projection.Actor;
import io.gpufleet.runtime.projection.Effects;
import io.gpufleet.runtime.projection.Inbound;
import io.gpufleet.runtime.projection.Lease;
import io.gpufleet.runtime.projection.Outbound;
import io.gpufleet.runtime.projection.Projection;
import io.gpufleet.runtime.projection.ProjectionSettings;
import io.gpufleet.runtime.projection.ProjectionSpec;
import io.gpufleet.runtime.projection.StateListener;
import io.gpufleet.runtime.projection.States;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.KafkaClients;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.NullMarked;

/** A service for tests: counts the events of a node and the faults of a device; one decision for each event. */
@NullMarked
class CountingProjection implements Projection<NodeHealthState>, Actor<NodeHealthState> {
    static final String REFUSED = "a projection refuses this one";
    /** A fault with this message makes a decision that is larger than any topic takes. */
    static final String HUGE = "cause an output that is too large";
    /** A fault with this message makes every tick of its node throw. */
    static final String BROKEN_TICK = "break the timer";
    /** A fault with this message makes a tick of its node leave a state that cannot be written. */
    static final String UNWRITABLE_TICK = "let the timer leave what cannot be written";
    /** A fault with this message makes a tick of its node publish more than any topic takes. */
    static final String HUGE_TICK = "let the timer publish what is too large";

    private static final Set<String> ABOUT_TICKS = Set.of(BROKEN_TICK, UNWRITABLE_TICK, HUGE_TICK);

    final List<String> heartbeats = new CopyOnWriteArrayList<>();
    final List<Inbound.Event> applied = new CopyOnWriteArrayList<>();
    final List<String> acted = new CopyOnWriteArrayList<>();
    final List<String> ticked = new CopyOnWriteArrayList<>();
    final List<String> lifecycle = new CopyOnWriteArrayList<>();

    /** Parts of an engine of such a service, whose broker does not exist. */
    static EngineParts<NodeHealthState> partsWithoutBroker() {
        var projection = new CountingProjection();
        var config = new EngineConfig(
                new ProjectionSettings("counting", "health-service-0", "", ProjectionSettings.SESSION),
                new Codec("c1", new Topics("gpu.")),
                KafkaClients.plain("127.0.0.1:1"),
                Clock.systemUTC());
        return new EngineParts<>(config, projection, projection, StateListener.none());
    }

    @Override
    public ProjectionSpec spec() {
        return new ProjectionSpec(
                Topic.HEALTH_STATE,
                EventType.HEALTH_CHANGED,
                1,
                Set.of(Topic.HEALTH, Topic.INVENTORY, Topic.ALLOCATION, Topic.SIGNALS),
                Set.of(Topic.TELEMETRY),
                Set.of(Topic.DECISIONS));
    }

    @Override
    public NodeHealthState read(String key, Message state) {
        return ((NodeHealthState) state).toBuilder().clearApplied().build();
    }

    @Override
    public Message write(String key, NodeHealthState state) {
        if (state.getNote().equals(UNWRITABLE_TICK)) {
            throw new IllegalStateException("state of " + key);
        }
        return state;
    }

    @Override
    public Effects<NodeHealthState> on(States<NodeHealthState> states, Inbound input, Instant now) {
        return switch (input) {
            case Inbound.Heartbeat beat -> {
                heartbeats.add(beat.key());
                yield Effects.none();
            }
            case Inbound.Tombstone _ -> Effects.none();
            case Inbound.Event event -> on(states, event, now);
        };
    }

    private Effects<NodeHealthState> on(States<NodeHealthState> states, Inbound.Event event, Instant now) {
        String message = event.payload() instanceof FaultObserved fault
                ? fault.getFault().getMessage()
                : "";
        if (message.equals(REFUSED)) {
            throw new IllegalStateException(REFUSED);
        }
        NodeHealthState before = states.get(event.key()).orElse(NodeHealthState.getDefaultInstance());
        applied.add(event);
        var decision = DecisionTaken.newBuilder()
                .addEvidence(event.eventId())
                .setReason(
                        message.equals(HUGE)
                                ? "x".repeat(3 * 1024 * 1024)
                                : "age " + event.age(now).toMillis())
                .build();
        return Effects.state(
                event.key(),
                apply(before, event),
                List.of(Outbound.Event.of(Topic.DECISIONS, EventType.DECISION_TAKEN, event.key(), decision, now)
                        .causedBy(event)));
    }

    /** The same whatever the order between topics: counts, and devices by name. */
    private static NodeHealthState apply(NodeHealthState before, Inbound.Event event) {
        var after = before.toBuilder().setVerdictRevision(before.getVerdictRevision() + 1);
        if (event.newMachine()) {
            after.setReason("new machine");
        }
        if (event.payload() instanceof FaultObserved fault) {
            String uuid = fault.getFault().getDeviceUuid();
            List<DeviceHealthState> devices = new ArrayList<>(before.getDevicesList());
            devices.removeIf(device -> device.getDeviceUuid().equals(uuid));
            devices.add(DeviceHealthState.newBuilder()
                    .setDeviceUuid(uuid)
                    .setReason("Xid" + fault.getFault().getXid())
                    .build());
            devices.sort(Comparator.comparing(DeviceHealthState::getDeviceUuid));
            after.clearDevices().addAllDevices(devices);
            if (ABOUT_TICKS.contains(fault.getFault().getMessage())) {
                after.setReason(fault.getFault().getMessage());
            }
        }
        return after.build();
    }

    @Override
    public Instant wakeAt(NodeHealthState state) {
        return Instant.MIN;
    }

    @Override
    public Effects<NodeHealthState> tick(String key, States<NodeHealthState> states, Instant now) {
        NodeHealthState state = states.get(key).orElseThrow();
        return switch (state.getReason()) {
            case BROKEN_TICK -> throw new IllegalStateException("tick of " + key);
            case UNWRITABLE_TICK ->
                Effects.state(key, state.toBuilder().setNote(UNWRITABLE_TICK).build(), List.of());
            case HUGE_TICK -> {
                var decision = DecisionTaken.newBuilder().setReason("x".repeat(3 * 1024 * 1024));
                yield Effects.publish(List.of(
                        Outbound.Event.of(Topic.DECISIONS, EventType.DECISION_TAKEN, key, decision.build(), now)));
            }
            default -> {
                ticked.add(key);
                yield Effects.none();
            }
        };
    }

    @Override
    public void begin(Lease lease, States<NodeHealthState> states) {
        states.forEach((key, _) -> acted.add(key));
        lifecycle.add("activated");
    }

    @Override
    public void changed(Map<String, NodeHealthState> states, Set<String> forgotten) {
        acted.addAll(states.keySet());
    }

    @Override
    public void end() {
        lifecycle.add("deactivated");
    }
}
