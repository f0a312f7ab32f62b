package io.gpufleet.health.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Message;
import io.gpufleet.health.app.CatchUpStatus;
import io.gpufleet.health.model.FleetCommandDecider;
import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.health.model.NodeScenario;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.budget.DisruptionBudgets;
import io.gpufleet.health.model.budget.Limit;
import io.gpufleet.health.model.budget.Limits;
import io.gpufleet.health.model.budget.Mode;
import io.gpufleet.health.model.budget.Pool;
import io.gpufleet.health.model.budget.StormBrake;
import io.gpufleet.health.model.policy.TestPolicies;
import io.gpufleet.proto.health.v1.Fault;
import io.gpufleet.proto.health.v1.FaultCleared;
import io.gpufleet.proto.health.v1.FaultKind;
import io.gpufleet.proto.health.v1.FaultObserved;
import io.gpufleet.proto.inventory.v1.Gpu;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.proto.signal.v1.Command;
import io.gpufleet.proto.signal.v1.KubernetesFact;
import io.gpufleet.proto.signal.v1.NodeObject;
import io.gpufleet.proto.signal.v1.NodePlacement;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** No budget and no brake is exceeded, whatever replica decides and whatever batch is undone. */
class BudgetsOverRestartsPropertyTest {
    private static final int NODES = 24;
    private static final int BRAKE = 2;
    private static final Limit ROOM = Limit.percent(30);
    private static final Duration WITHIN = Duration.ofMinutes(5);
    private static final int[] XIDS = {13, 48, 79, 79, 79, 95};

    private static final DisruptionBudgets BUDGETS = new DisruptionBudgets(
            List.of(),
            new Pool("default", Map.of(), Mode.ENFORCE, new Limits(ROOM, Limit.NONE)),
            Limits.NONE,
            Limits.NONE,
            new StormBrake(1, BRAKE, WITHIN));

    private final HealthMachine machine =
            new HealthMachine(TestPolicies.withRecoveryDwell(Duration.ofMinutes(1)), Duration.ofMinutes(10));
    /** What the test itself saw: when the policy tainted a node last. */
    private final Map<String, Instant> taints = new HashMap<>();

    private Instant opened = Instant.MIN;
    private HealthProjection projection = projection();
    private ProjectedNodes nodes = new ProjectedNodes(projection, NodeScenario.START);

    private HealthProjection projection() {
        return new HealthProjection(() -> machine, () -> BUDGETS, new CatchUpStatus());
    }

    @Property(tries = 100)
    void noBudgetIsExceededOverRestarts(@ForAll long seed) {
        var random = new Random(seed);
        taints.clear();
        opened = Instant.MIN;
        projection = projection();
        nodes = new ProjectedNodes(projection, NodeScenario.START);
        for (int i = 0; i < NODES; i++) {
            begin("node-" + i);
        }
        for (int i = 0; i < 300; i++) {
            nodes.advance(Duration.ofMillis(1 + random.nextInt(30_000)));
            step(random);
        }
    }

    private void step(Random random) {
        switch (random.nextInt(12)) {
            case 0 -> nextReplica();
            case 1 -> undone(random);
            case 2, 3 -> due().forEach(node -> checked(node, () -> nodes.tick(node)));
            default -> event(random);
        }
    }

    private void undone(Random random) {
        var before = Map.copyOf(taints);
        Instant openedBefore = opened;
        nodes.undone(() -> event(random));
        taints.clear();
        taints.putAll(before);
        opened = openedBefore;
    }

    private void nextReplica() {
        projection = projection();
        nodes = nodes.restored(projection);
    }

    private List<String> due() {
        return List.copyOf(projection.due(nodes, new NothingRead(), nodes.now()));
    }

    private void event(Random random) {
        String node = "node-" + random.nextInt(NODES);
        switch (random.nextInt(40)) {
            case 0 -> {
                command(FleetCommandDecider.FLEET, Command.COMMAND_RESET_BRAKE);
                opened = nodes.now();
            }
            case 1, 2 -> checked(node, () -> command(node, Command.COMMAND_QUARANTINE));
            case 3, 4, 5 -> checked(node, () -> command(node, Command.COMMAND_RELEASE));
            case 6 -> checked(node, () -> observed(node, random.nextBoolean()));
            default -> checked(node, () -> fault(node, XIDS[random.nextInt(XIDS.length)], random.nextInt(4) == 0));
        }
    }

    private void checked(String node, Runnable action) {
        boolean before = tainted(node);
        action.run();
        if (tainted(node) && !before && nodes.get(node).orElseThrow().quarantine() == null) {
            taints.put(node, nodes.now());
            assertThat(taints.values().stream()
                            .filter(at -> at.isAfter(opened))
                            .filter(at -> at.plus(WITHIN).isAfter(nodes.now())))
                    .as("nodes tainted by the policy within the time of the brake")
                    .hasSizeLessThanOrEqualTo(BRAKE);
            assertThat(out()).as("nodes out").isLessThanOrEqualTo(ROOM.of(NODES));
        }
    }

    private boolean tainted(String node) {
        return nodes.get(node).filter(NodeState::tainted).isPresent();
    }

    private int out() {
        int[] out = {0};
        nodes.forEach((node, state) -> {
            boolean isOut = state.tainted() || !state.node().placement().usable();
            out[0] += isOut && !node.equals(FleetCommandDecider.FLEET) ? 1 : 0;
        });
        return out[0];
    }

    private void begin(String node) {
        daemon(
                node,
                Topic.INVENTORY,
                EventType.NODE_ANNOUNCED,
                NodeAnnounced.newBuilder()
                        .setBootId("boot-1")
                        .addGpus(Gpu.newBuilder().setUuid("0 of " + node))
                        .addGpus(Gpu.newBuilder().setUuid("1 of " + node))
                        .build());
        observed(node, true);
    }

    private void daemon(String node, Topic topic, EventType type, Message payload) {
        nodes.daemon(node, topic, type, payload);
    }

    private void observed(String node, boolean usable) {
        nodes.service(
                node,
                EventType.KUBERNETES_OBSERVED,
                KubernetesFact.newBuilder()
                        .setNode(NodeObject.newBuilder()
                                .setUid("uid of " + node)
                                .setPlacement(NodePlacement.newBuilder().setUsable(usable)))
                        .build());
    }

    private void fault(String node, int xid, boolean cleared) {
        var fault = Fault.newBuilder()
                .setDeviceUuid("0 of " + node)
                .setKind(FaultKind.FAULT_KIND_XID)
                .setXid(xid);
        if (cleared) {
            daemon(
                    node,
                    Topic.HEALTH,
                    EventType.FAULT_CLEARED,
                    FaultCleared.newBuilder()
                            .setBootId("boot-1")
                            .setFault(fault)
                            .setProof("quiet")
                            .build());
        } else {
            daemon(
                    node,
                    Topic.HEALTH,
                    EventType.FAULT_OBSERVED,
                    FaultObserved.newBuilder()
                            .setBootId("boot-1")
                            .setFault(fault)
                            .build());
        }
    }

    private void command(String key, Command command) {
        nodes.command(key, command, "test");
    }
}
