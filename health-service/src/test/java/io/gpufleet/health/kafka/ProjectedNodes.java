package io.gpufleet.health.kafka;

import com.google.protobuf.Message;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.proto.health.v1.Fault;
import io.gpufleet.proto.health.v1.FaultKind;
import io.gpufleet.proto.health.v1.FaultObserved;
import io.gpufleet.proto.inventory.v1.Gpu;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.proto.signal.v1.Command;
import io.gpufleet.proto.signal.v1.KubernetesFact;
import io.gpufleet.proto.signal.v1.NodeObject;
import io.gpufleet.proto.signal.v1.NodePlacement;
import io.gpufleet.proto.signal.v1.OperatorCommand;
import io.gpufleet.runtime.projection.Effects;
import io.gpufleet.runtime.projection.Inbound;
import io.gpufleet.runtime.projection.States;
import io.gpufleet.wire.Envelope;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventTime;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;

/** The states of a projection in a map, as an engine would own them; keeps the effects of the last input. */
final class ProjectedNodes implements States<NodeState> {
    static final String TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    private final HealthProjection projection;
    private final Map<String, NodeState> states = new HashMap<>();
    private Instant now;
    private long sequence;

    ProjectedNodes(HealthProjection projection, Instant start) {
        this.projection = projection;
        this.now = start;
    }

    Instant now() {
        return now;
    }

    void advance(Duration time) {
        now = now.plus(time);
    }

    /** An event of the node's daemon, just appended, with a trace. */
    Effects<NodeState> daemon(String node, Topic topic, EventType type, Message payload) {
        return on(topic, type, node, new EventSource.Node("c1", node), payload);
    }

    /** A command of the operator ada. */
    Effects<NodeState> command(String key, Command command, String reason) {
        return service(
                key,
                EventType.COMMAND_ISSUED,
                OperatorCommand.newBuilder()
                        .setCommand(command)
                        .setUser("ada")
                        .setReason(reason)
                        .build());
    }

    /** An event of the node's daemon in one of its boots. */
    Effects<NodeState> daemon(String node, int boot, Topic topic, EventType type, Message payload) {
        sequence++;
        return event(new Inbound.Event(
                envelope(topic, type, node, new EventSource.Node("c1", node), 1_000L * boot), payload, now, false));
    }

    /** The first event of the daemon of another machine that has the name now. */
    Effects<NodeState> newMachine(String node, Topic topic, EventType type, Message payload) {
        sequence++;
        return event(new Inbound.Event(
                envelope(topic, type, node, new EventSource.Node("c1", node), 500), payload, now, true));
    }

    /** The Node object of a node that can be used. */
    Effects<NodeState> observed(String node, Map<String, String> labels) {
        return service(
                node,
                EventType.KUBERNETES_OBSERVED,
                KubernetesFact.newBuilder()
                        .setNode(NodeObject.newBuilder()
                                .setUid("uid-" + node)
                                .setPlacement(NodePlacement.newBuilder()
                                        .putAllLabels(labels)
                                        .setUsable(true)))
                        .build());
    }

    /** The daemon announces a GPU. */
    Effects<NodeState> announced(String node, String gpu) {
        return daemon(
                node,
                Topic.INVENTORY,
                EventType.NODE_ANNOUNCED,
                NodeAnnounced.newBuilder()
                        .setBootId("boot-1")
                        .addGpus(Gpu.newBuilder().setUuid(gpu))
                        .build());
    }

    /** A GPU has fallen off the bus: XID 79. */
    Effects<NodeState> offTheBus(String node, String gpu) {
        return daemon(
                node,
                Topic.HEALTH,
                EventType.FAULT_OBSERVED,
                FaultObserved.newBuilder()
                        .setBootId("boot-1")
                        .setFault(Fault.newBuilder()
                                .setDeviceUuid(gpu)
                                .setKind(FaultKind.FAULT_KIND_XID)
                                .setXid(79))
                        .build());
    }

    /** An event of a service about a node. */
    Effects<NodeState> service(String node, EventType type, Message payload) {
        return on(Topic.SIGNALS, type, node, new EventSource.Service("c1", "health-service-0"), payload);
    }

    private Effects<NodeState> on(Topic topic, EventType type, String node, EventSource source, Message payload) {
        sequence++;
        return event(new Inbound.Event(envelope(topic, type, node, source, 1_000), payload, now, false));
    }

    private Envelope envelope(Topic topic, EventType type, String node, EventSource source, long epoch) {
        return new Envelope(
                new EventId(source.name(), epoch, topic, sequence),
                source,
                type,
                "",
                node,
                new EventTime(now, now, 0),
                TRACE);
    }

    /** A prepared event. */
    Effects<NodeState> event(Inbound.Event event) {
        return apply(projection.on(this, event, now));
    }

    /** Any input. */
    Effects<NodeState> input(Inbound input) {
        return apply(projection.on(this, input, now));
    }

    Effects<NodeState> tick(String node) {
        return apply(projection.tick(node, this, now));
    }

    /** What happens in it never happened, as in a batch that cannot be written. */
    void undone(Runnable batch) {
        var before = Map.copyOf(states);
        batch.run();
        Set<String> changed = states.keySet().stream()
                .filter(key -> states.get(key) != before.get(key))
                .collect(Collectors.toSet());
        states.clear();
        states.putAll(before);
        projection.undone(changed, this);
    }

    /** What the next replica has after a kill: the states as the changelog kept them, and a projection without a memory. */
    ProjectedNodes restored(HealthProjection next) {
        var restored = new ProjectedNodes(next, now);
        restored.sequence = sequence;
        states.forEach((node, state) -> restored.states.put(node, next.read(node, projection.write(node, state))));
        next.restarted(restored, now);
        return restored;
    }

    private Effects<NodeState> apply(Effects<NodeState> effects) {
        states.keySet().removeAll(effects.forgotten());
        states.putAll(effects.states());
        return effects;
    }

    @Override
    public Optional<NodeState> get(String key) {
        return Optional.ofNullable(states.get(key));
    }

    @Override
    public int size() {
        return states.size();
    }

    @Override
    public void forEach(BiConsumer<String, NodeState> each) {
        states.forEach(each);
    }
}
