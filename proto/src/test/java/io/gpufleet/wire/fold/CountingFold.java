package io.gpufleet.wire.fold;

import com.google.protobuf.Message;
import io.gpufleet.proto.health.v1.DecisionTaken;
import io.gpufleet.proto.health.v1.DeviceHealthState;
import io.gpufleet.proto.health.v1.FaultObserved;
import io.gpufleet.proto.health.v1.NodeHealth;
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

/** A service for tests: counts the events of a node and the faults of a device; one decision for each event. */
@NullMarked
class CountingFold implements Folder {
    static final String REFUSED = "a fold refuses this one";

    final Map<String, NodeHealth> state = new ConcurrentSkipListMap<>();
    final List<String> heard = new CopyOnWriteArrayList<>();
    final List<Inbound> folded = new CopyOnWriteArrayList<>();
    final List<Outbound> committed = new CopyOnWriteArrayList<>();
    final List<String> life = new CopyOnWriteArrayList<>();

    NodeHealth of(String node) {
        return state.getOrDefault(node, NodeHealth.getDefaultInstance());
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
    public Set<Topic> undecoded() {
        return Set.of(Topic.TELEMETRY);
    }

    @Override
    public void clear() {
        state.clear();
    }

    @Override
    public void restore(String key, Message restored) {
        state.put(key, (NodeHealth) restored);
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
        NodeHealth next = apply(of(event.key()), event);
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

    /** The same whatever the order between topics: counts, and devices by name. */
    private static NodeHealth apply(NodeHealth before, Inbound event) {
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
    public List<Outbound> heard(Topic topic, String key, Instant appendedAt) {
        heard.add(key);
        return List.of();
    }

    @Override
    public void committed(List<Outbound> outputs) {
        committed.addAll(outputs);
    }

    @Override
    public void activated(Instant now) {
        life.add("activated");
    }

    @Override
    public void deactivated() {
        life.add("deactivated");
    }
}
