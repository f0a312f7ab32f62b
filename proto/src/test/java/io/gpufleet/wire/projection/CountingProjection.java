package io.gpufleet.wire.projection;

import com.google.protobuf.Message;
import io.gpufleet.proto.health.v1.DecisionTaken;
import io.gpufleet.proto.health.v1.DeviceHealthState;
import io.gpufleet.proto.health.v1.FaultObserved;
import io.gpufleet.proto.health.v1.NodeHealthState;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.NullMarked;

/** Projection for tests: counts the events of a node and the faults of a device, with one decision for each event. */
@NullMarked
class CountingProjection implements Projection {
    static final String REFUSED = "refused by the projection";

    final Map<String, NodeHealthState> state = new ConcurrentSkipListMap<>();
    final List<String> heartbeat = new CopyOnWriteArrayList<>();
    final List<Inbound> folded = new CopyOnWriteArrayList<>();
    final List<Outbound> committed = new CopyOnWriteArrayList<>();
    final List<String> lifecycle = new CopyOnWriteArrayList<>();

    NodeHealthState of(String node) {
        return state.getOrDefault(node, NodeHealthState.getDefaultInstance());
    }

    @Override
    public Topic changelog() {
        return Topic.HEALTH_STATE;
    }

    @Override
    public EventType changelogType() {
        return EventType.HEALTH_CHANGED;
    }

    @Override
    public Set<Topic> inputs() {
        return Set.of(Topic.HEALTH, Topic.INVENTORY, Topic.ALLOCATION, Topic.SIGNALS);
    }

    @Override
    public Set<Topic> heartbeatTopics() {
        return Set.of(Topic.TELEMETRY);
    }

    @Override
    public void clear() {
        state.clear();
    }

    @Override
    public void restore(String key, Message restored) {
        state.put(key, (NodeHealthState) restored);
    }

    @Override
    public void forget(String key) {
        state.remove(key);
    }

    @Override
    public List<Outbound> fold(Inbound event, Instant now) {
        if (event.payload() instanceof FaultObserved fault
                && fault.getFault().getMessage().equals(REFUSED)) {
            throw new IllegalStateException(REFUSED);
        }
        folded.add(event);
        NodeHealthState next = apply(of(event.key()), event);
        state.put(event.key(), next);
        var decision = DecisionTaken.newBuilder()
                .addEvidence(event.eventId())
                .setReason("age " + event.age(now).toMillis())
                .build();
        return List.of(
                Outbound.Event.of(Topic.DECISIONS, EventType.DECISION_TAKEN, event.key(), decision, now)
                        .causedBy(event),
                Outbound.Event.of(Topic.HEALTH_STATE, EventType.HEALTH_CHANGED, event.key(), next, now));
    }

    /** Counts events and lists devices by UUID, so that the result does not depend on the order between topics. */
    private static NodeHealthState apply(NodeHealthState before, Inbound event) {
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
            devices.sort(java.util.Comparator.comparing(DeviceHealthState::getDeviceUuid));
            after.clearDevices().addAllDevices(devices);
        }
        return after.build();
    }

    @Override
    public List<Outbound> heartbeat(Topic topic, String key, Instant appendedAt) {
        heartbeat.add(key);
        return List.of();
    }

    @Override
    public void committed(List<Outbound> outputs) {
        committed.addAll(outputs);
    }

    @Override
    public void activated(Instant now) {
        lifecycle.add("activated");
    }

    @Override
    public void deactivated() {
        lifecycle.add("deactivated");
    }
}
