package io.gpufleet.health.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Message;
import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.budget.DisruptionBudgets;
import io.gpufleet.health.model.budget.Limit;
import io.gpufleet.health.model.budget.Limits;
import io.gpufleet.health.model.budget.Mode;
import io.gpufleet.health.model.budget.Pool;
import io.gpufleet.health.model.budget.StormBrake;
import io.gpufleet.health.model.policy.TestPolicies;
import io.gpufleet.proto.health.v1.DeviceVerdict;
import io.gpufleet.proto.health.v1.Fault;
import io.gpufleet.proto.health.v1.FaultCleared;
import io.gpufleet.proto.health.v1.FaultKind;
import io.gpufleet.proto.health.v1.FaultObserved;
import io.gpufleet.proto.health.v1.NodeHealthState;
import io.gpufleet.proto.health.v1.NodeVerdict;
import io.gpufleet.proto.inventory.v1.Gpu;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.proto.signal.v1.KubernetesFact;
import io.gpufleet.proto.signal.v1.NodeObject;
import io.gpufleet.proto.signal.v1.NodePlacement;
import io.gpufleet.runtime.consistency.TestEvent;
import io.gpufleet.runtime.consistency.TestedProjection;
import io.gpufleet.runtime.projection.Projection;
import io.gpufleet.wire.DecodedRecord;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Nodes with two GPUs, more of them with a fault at any time than may be out of service; each test has a pool of its own. */
final class TestedBudgets implements TestedProjection<NodeState> {
    private static final int GPUS = 2;
    private static final Limit NODES = Limit.percent(20);
    private static final Limit DEVICES = Limit.percent(15);
    private static final List<Integer> XIDS = List.of(48, 79);
    private static final String POOL = "test";

    @Override
    public Projection<NodeState> create() {
        return new HealthProjection(
                new HealthMachine(TestPolicies.standard(), Duration.ofMinutes(10)),
                new DisruptionBudgets(
                        Stream.of("kill", "zombie", "cut")
                                .map(TestedBudgets::pool)
                                .toList(),
                        pool("other"),
                        Limits.NONE,
                        Limits.NONE,
                        StormBrake.NONE));
    }

    private static Pool pool(String test) {
        return new Pool(test, Map.of(POOL, test), Mode.ENFORCE, new Limits(NODES, DEVICES));
    }

    @Override
    public TestEvent first(String node) {
        var event = NodeAnnounced.newBuilder().setBootId("boot-" + node);
        IntStream.range(0, GPUS).forEach(i -> event.addGpus(Gpu.newBuilder().setUuid(gpu(node, i))));
        return new TestEvent(Topic.INVENTORY, EventType.NODE_ANNOUNCED, event.build());
    }

    @Override
    public Optional<TestEvent> second(String node) {
        var placement = NodePlacement.newBuilder().putLabels(POOL, poolOf(node)).setUsable(true);
        var observed = KubernetesFact.newBuilder()
                .setNode(NodeObject.newBuilder().setUid("uid-" + node).setPlacement(placement));
        return Optional.of(new TestEvent(Topic.SIGNALS, EventType.KUBERNETES_OBSERVED, observed.build()));
    }

    @Override
    public boolean begun(NodeState state) {
        return !state.node().uid().isEmpty();
    }

    @Override
    public TestEvent next(String node, Random random) {
        var fault = Fault.newBuilder()
                .setDeviceUuid(gpu(node, random.nextInt(GPUS)))
                .setKind(FaultKind.FAULT_KIND_XID)
                .setXid(XIDS.get(random.nextInt(XIDS.size())));
        Message payload = random.nextBoolean()
                ? FaultObserved.newBuilder()
                        .setBootId("boot-" + node)
                        .setFault(fault)
                        .build()
                : FaultCleared.newBuilder()
                        .setBootId("boot-" + node)
                        .setFault(fault)
                        .setProof("quiet")
                        .build();
        return new TestEvent(
                Topic.HEALTH,
                payload instanceof FaultObserved ? EventType.FAULT_OBSERVED : EventType.FAULT_CLEARED,
                payload);
    }

    private static String gpu(String node, int index) {
        return "GPU-" + node + "-" + index;
    }

    private static String poolOf(String node) {
        return node.substring(0, node.indexOf('-'));
    }

    /** Who gets the room that there is depends on the order between nodes. */
    @Override
    public Message withoutTimes(Message message) {
        return message instanceof NodeHealthState state
                ? state.toBuilder()
                        .clearVerdictRevision()
                        .clearCauseRevision()
                        .clearPolicyTainted()
                        .clearHeldBack()
                        .build()
                : message;
    }

    @Override
    public Set<Topic> independentOutputs() {
        return Set.of();
    }

    /** One leader's verdicts are in the order of their sequences, and those of the next leader follow. */
    @Override
    public void checkTogether(Collection<NodeState> states, Function<Topic, List<DecodedRecord.Event>> log) {
        Map<String, List<NodeState>> pools = new HashMap<>();
        states.forEach(state -> pools.computeIfAbsent(poolOf(state.node().name()), _ -> new ArrayList<>())
                .add(state));
        List<DecodedRecord.Event> verdicts = log.apply(Topic.VERDICTS);
        var began = new HashMap<String, Instant>();
        verdicts.forEach(verdict ->
                began.merge(leader(verdict), verdict.appendedAt(), (one, other) -> one.isBefore(other) ? one : other));
        var inForce = new HashMap<String, NodeVerdict>();
        verdicts.stream()
                .sorted(Comparator.comparing(
                                (DecodedRecord.Event verdict) -> began.getOrDefault(leader(verdict), Instant.MAX))
                        .thenComparing(verdict -> verdict.envelope().id().sequence()))
                .forEach(verdict -> {
                    String node = verdict.envelope().key();
                    inForce.put(node, (NodeVerdict) verdict.payload());
                    withinBudget(
                            poolOf(node),
                            pools.getOrDefault(poolOf(node), List.of()).size(),
                            inForce);
                });
        assertThat(began).as("leaders").hasSizeGreaterThan(1);
        // Both limits were met, or nothing was shown.
        pools.forEach((pool, nodes) -> assertThat(nodes)
                .as("what has no room in pool %s", pool)
                .anyMatch(state -> state.heldBack().containsKey(""))
                .anyMatch(state -> state.devices().keySet().stream().anyMatch(state.heldBack()::containsKey)));
    }

    private static String leader(DecodedRecord.Event verdict) {
        return verdict.envelope().id().writer() + "/" + verdict.envelope().id().epoch();
    }

    private static void withinBudget(String pool, int nodes, Map<String, NodeVerdict> inForce) {
        List<NodeVerdict> ofPool = inForce.entrySet().stream()
                .filter(entry -> poolOf(entry.getKey()).equals(pool))
                .map(Map.Entry::getValue)
                .toList();
        assertThat(ofPool.stream().filter(verdict -> !verdict.getTrusted()))
                .as("nodes of pool %s that are out of service", pool)
                .hasSizeLessThanOrEqualTo(NODES.of(nodes));
        assertThat(ofPool.stream()
                        .flatMap(verdict -> verdict.getDevicesList().stream())
                        .filter(device -> !device.getTrusted())
                        .map(DeviceVerdict::getDeviceUuid))
                .as("devices of pool %s that are out of service", pool)
                .hasSizeLessThanOrEqualTo(DEVICES.of(GPUS * nodes));
    }
}
