package io.gpufleet.health.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.health.model.NodeScenario;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.budget.DisruptionBudgets;
import io.gpufleet.health.model.device.Device;
import io.gpufleet.health.model.device.DeviceHealth;
import io.gpufleet.health.model.fault.RecommendedAction;
import io.gpufleet.health.model.policy.TestPolicies;
import io.gpufleet.proto.bus.v1.EventsLost;
import io.gpufleet.proto.health.v1.DecisionTaken;
import io.gpufleet.proto.health.v1.Fault;
import io.gpufleet.proto.health.v1.FaultCleared;
import io.gpufleet.proto.health.v1.FaultKind;
import io.gpufleet.proto.health.v1.FaultObserved;
import io.gpufleet.proto.health.v1.NodeVerdict;
import io.gpufleet.proto.inventory.v1.Gpu;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.proto.signal.v1.Command;
import io.gpufleet.proto.signal.v1.KubernetesFact;
import io.gpufleet.proto.signal.v1.NodeDeleted;
import io.gpufleet.proto.signal.v1.NodeObject;
import io.gpufleet.proto.signal.v1.OperatorCommand;
import io.gpufleet.runtime.projection.Effects;
import io.gpufleet.runtime.projection.Inbound;
import io.gpufleet.runtime.projection.Outbound;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The projection without an engine: pure functions over states. */
class HealthProjectionTest {
    private static final String NODE = "node-1";
    private static final Duration DWELL = Duration.ofMinutes(5);

    private final HealthProjection projection = new HealthProjection(
            new HealthMachine(TestPolicies.withRecoveryDwell(DWELL), Duration.ofMinutes(10)), DisruptionBudgets.NONE);
    private final ProjectedNodes nodes = new ProjectedNodes(projection, NodeScenario.START);

    @Test
    void samplesOfTheWarmUpTaintANode() {
        List<NodeVerdict> verdicts = projection.samples(NodeScenario.START).stream()
                .flatMap(sample -> nodes.event(sample).outputs().stream())
                .filter(Outbound.Event.class::isInstance)
                .map(output -> ((Outbound.Event) output).payload())
                .filter(NodeVerdict.class::isInstance)
                .map(NodeVerdict.class::cast)
                .toList();

        assertThat(verdicts).anySatisfy(verdict -> {
            assertThat(verdict.getTrusted()).isFalse();
            assertThat(verdict.getDevicesList()).anyMatch(device -> !device.getTrusted());
        });
    }

    private Effects<NodeState> announced() {
        return nodes.daemon(
                NODE,
                Topic.INVENTORY,
                EventType.NODE_ANNOUNCED,
                NodeAnnounced.newBuilder()
                        .setBootId("boot-1")
                        .addGpus(Gpu.newBuilder().setUuid("gpu-0"))
                        .addGpus(Gpu.newBuilder().setUuid("gpu-1"))
                        .build());
    }

    private static Fault fault(int xid) {
        return Fault.newBuilder()
                .setDeviceUuid("gpu-0")
                .setKind(FaultKind.FAULT_KIND_XID)
                .setXid(xid)
                .build();
    }

    private Effects<NodeState> observed(int xid) {
        return nodes.daemon(
                NODE,
                Topic.HEALTH,
                EventType.FAULT_OBSERVED,
                FaultObserved.newBuilder()
                        .setBootId("boot-1")
                        .setFault(fault(xid))
                        .build());
    }

    private Effects<NodeState> cleared(int xid) {
        return nodes.daemon(
                NODE,
                Topic.HEALTH,
                EventType.FAULT_CLEARED,
                FaultCleared.newBuilder()
                        .setBootId("boot-1")
                        .setFault(fault(xid))
                        .setProof("quiet")
                        .build());
    }

    private NodeState state() {
        return nodes.get(NODE).orElseThrow();
    }

    private static List<Outbound.Event> events(Effects<NodeState> effects) {
        return effects.outputs().stream().map(Outbound.Event.class::cast).toList();
    }

    @Test
    void faultBecomesStateVerdictAndDecisions() {
        announced();

        Effects<NodeState> effects = observed(79);

        assertThat(effects.states()).containsOnlyKeys(NODE);
        assertThat(events(effects))
                .extracting(Outbound.Event::topic)
                .containsExactly(Topic.VERDICTS, Topic.DECISIONS, Topic.DECISIONS);
        assertThat(((NodeVerdict) events(effects).getFirst().payload()).getTrusted())
                .isFalse();
        assertThat(events(effects))
                .filteredOn(event -> event.payload() instanceof DecisionTaken)
                .extracting(Outbound.Event::subject)
                .containsExactly("gpu-0", "");
    }

    @Test
    void everyOutputCarriesTheTraceOfItsCause() {
        announced();

        assertThat(events(observed(79)))
                .isNotEmpty()
                .extracting(Outbound.Event::traceparent)
                .containsOnly(ProjectedNodes.TRACE);
    }

    @Test
    void everyOutputIsOfADeclaredTopic() {
        announced();

        assertThat(events(observed(79)))
                .extracting(Outbound.Event::topic)
                .isSubsetOf(projection.spec().outputs());
    }

    @Test
    void benignFaultIsADecisionWithoutState() {
        announced();

        Effects<NodeState> effects = observed(13);

        assertThat(effects.states()).isEmpty();
        assertThat(events(effects)).extracting(Outbound.Event::topic).containsExactly(Topic.DECISIONS);
    }

    @Test
    void eventThatIsNoSignalHasNoEffect() {
        Effects<NodeState> lost = nodes.daemon(
                NODE,
                Topic.INVENTORY,
                EventType.EVENTS_LOST,
                EventsLost.newBuilder().setBootId("boot-1").build());

        assertThat(lost.isEmpty()).isTrue();
    }

    @Test
    void tombstoneOfAnInputHasNoEffect() {
        announced();

        Effects<NodeState> effects =
                projection.on(nodes, new Inbound.Tombstone(Topic.HEALTH, NODE, nodes.now()), nodes.now());

        assertThat(effects.isEmpty()).isTrue();
    }

    @Test
    void stateIsReadAsItWasWritten() {
        announced();
        observed(79);

        assertThat(projection.read(NODE, projection.write(NODE, state()))).isEqualTo(state());
    }

    @Test
    void nodeOfWhichNothingIsLeftIsForgottenAfterThirtyDays() {
        // Given
        announced();
        object(KubernetesFact.newBuilder().setNode(NodeObject.newBuilder().setUid("uid-1")));
        observed(79);
        object(KubernetesFact.newBuilder()
                .setNodeDeleted(NodeDeleted.newBuilder().setUid("uid-1")));
        Instant wakeAt = projection.wakeAt(state());
        assertThat(wakeAt).isEqualTo(nodes.now().plus(NodeState.FORGET_AFTER));
        nodes.advance(NodeState.FORGET_AFTER.minusSeconds(1));
        assertThat(nodes.tick(NODE).isEmpty()).isTrue();

        // When
        nodes.advance(Duration.ofSeconds(1));
        Effects<NodeState> effects = nodes.tick(NODE);

        // Then
        assertThat(effects).isEqualTo(Effects.forget(NODE, List.of(new Outbound.Tombstone(Topic.VERDICTS, NODE))));
        assertThat(nodes.size()).isZero();
    }

    private void object(KubernetesFact.Builder fact) {
        nodes.service(NODE, EventType.KUBERNETES_OBSERVED, fact.build());
    }

    @Test
    void recoveringDeviceWakesTheNodeWhenItsDwellIsOver() {
        // Given
        announced();
        nodes.service(
                NODE,
                EventType.KUBERNETES_OBSERVED,
                KubernetesFact.newBuilder()
                        .setNode(NodeObject.newBuilder().setUid("uid-1"))
                        .build());
        observed(48);
        assertThat(projection.wakeAt(state())).isEqualTo(Instant.MAX);
        cleared(48);

        // When
        Instant wakeAt = projection.wakeAt(state());

        // Then
        assertThat(wakeAt).isEqualTo(nodes.now().plus(DWELL));
        nodes.advance(DWELL.minusMillis(1));
        assertThat(nodes.tick(NODE).isEmpty()).isTrue();
        nodes.advance(Duration.ofMillis(1));
        assertThat(events(nodes.tick(NODE)))
                .extracting(Outbound.Event::topic)
                .containsExactly(Topic.VERDICTS, Topic.DECISIONS);
        assertThat(projection.wakeAt(state())).isEqualTo(Instant.MAX);
    }

    private Effects<NodeState> announced(String node, String... uuids) {
        var announced = NodeAnnounced.newBuilder().setBootId("boot-" + node);
        for (String uuid : uuids) {
            announced.addGpus(Gpu.newBuilder().setUuid(uuid));
        }
        return nodes.daemon(node, Topic.INVENTORY, EventType.NODE_ANNOUNCED, announced.build());
    }

    private void issued(Command command, String node, String device) {
        nodes.service(
                node,
                EventType.COMMAND_ISSUED,
                OperatorCommand.newBuilder()
                        .setCommand(command)
                        .setDeviceUuid(device)
                        .setUser("ada")
                        .setReason("fan")
                        .build());
    }

    @Test
    void quarantineFollowsTheDeviceToAnotherNode() {
        // Given
        announced("node-1", "gpu-0", "gpu-1");
        announced("node-2", "gpu-8");
        issued(Command.COMMAND_QUARANTINE, "node-1", "gpu-0");

        // When
        announced("node-1", "gpu-1");
        announced("node-2", "gpu-8", "gpu-0");

        // Then
        Device moved = nodes.get("node-2").orElseThrow().device("gpu-0").orElseThrow();
        assertThat(moved.health()).isInstanceOf(DeviceHealth.Quarantined.class);
        assertThat(((DeviceHealth.Quarantined) moved.health()).note()).isEqualTo("ada: fan");
        assertThat(moved.listed()).isTrue();
        assertThat(nodes.get("node-1").orElseThrow().device("gpu-0")).isEmpty();
    }

    @Test
    void attemptsFollowTheDeviceToAnotherNode() {
        // Given
        announced();
        announced("node-2", "gpu-8");
        observed(48);
        cleared(48);

        // When
        nodes.daemon(
                NODE,
                Topic.INVENTORY,
                EventType.NODE_ANNOUNCED,
                NodeAnnounced.newBuilder()
                        .setBootId("boot-1")
                        .addGpus(Gpu.newBuilder().setUuid("gpu-1"))
                        .build());
        announced("node-2", "gpu-8", "gpu-0");

        // Then
        Device moved = nodes.get("node-2").orElseThrow().device("gpu-0").orElseThrow();
        assertThat(moved.history().attempts()).containsOnlyKeys(RecommendedAction.RESET_GPU);
        assertThat(moved.health()).isInstanceOf(DeviceHealth.Healthy.class);
    }

    @Test
    void nodeWithoutANodeObjectIsForgottenByCommand() {
        announced();
        issued(Command.COMMAND_QUARANTINE, NODE, "gpu-0");

        issued(Command.COMMAND_FORGET, NODE, "");

        assertThat(nodes.get(NODE)).isEmpty();
    }

    @Test
    void nodeWithANodeObjectIsNotForgotten() {
        announced();
        nodes.service(
                NODE,
                EventType.KUBERNETES_OBSERVED,
                KubernetesFact.newBuilder()
                        .setNode(NodeObject.newBuilder().setUid("uid-1"))
                        .build());

        issued(Command.COMMAND_FORGET, NODE, "");

        assertThat(nodes.get(NODE)).isPresent();
    }
}
