package io.gpufleet.health.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.model.FleetCommandDecider;
import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.health.model.NodeScenario;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.budget.DisruptionBudgets;
import io.gpufleet.health.model.drain.DrainMode;
import io.gpufleet.health.model.drain.DrainOrder;
import io.gpufleet.health.model.policy.TestPolicies;
import io.gpufleet.proto.health.v1.Fault;
import io.gpufleet.proto.health.v1.FaultKind;
import io.gpufleet.proto.health.v1.FaultObserved;
import io.gpufleet.proto.health.v1.NodeHealthState;
import io.gpufleet.proto.inventory.v1.Gpu;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.proto.signal.v1.Command;
import io.gpufleet.proto.signal.v1.KubernetesFact;
import io.gpufleet.proto.signal.v1.NodeObject;
import io.gpufleet.proto.signal.v1.NodePlacement;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What operators hold back: everything about one node, or about all of them. */
class FreezeAndMaintenanceTest {
    private static final String NODE = "node-1";

    private final HealthProjection projection = projection();
    private final ProjectedNodes nodes = new ProjectedNodes(projection, NodeScenario.START);

    FreezeAndMaintenanceTest() {
        placed("");
        nodes.daemon(
                NODE,
                Topic.INVENTORY,
                EventType.NODE_ANNOUNCED,
                NodeAnnounced.newBuilder()
                        .setBootId("boot-1")
                        .addGpus(Gpu.newBuilder().setUuid("gpu-0"))
                        .addGpus(Gpu.newBuilder().setUuid("gpu-1"))
                        .build());
    }

    private static HealthProjection projection() {
        return new HealthProjection(
                new HealthMachine(TestPolicies.draining(DrainMode.GPU_PODS), Duration.ofMinutes(10)),
                DisruptionBudgets.NONE);
    }

    private void placed(String maintenance) {
        var placement = NodePlacement.newBuilder().setUsable(true);
        if (!maintenance.isEmpty()) {
            placement.putLabels("gpufleet.io/maintenance", maintenance);
        }
        nodes.service(
                NODE,
                EventType.KUBERNETES_OBSERVED,
                KubernetesFact.newBuilder()
                        .setNode(NodeObject.newBuilder().setUid("uid-1").setPlacement(placement))
                        .build());
    }

    private void command(String key, Command command) {
        nodes.command(key, command, "new switch");
    }

    private void xid79() {
        nodes.daemon(
                NODE,
                Topic.HEALTH,
                EventType.FAULT_OBSERVED,
                FaultObserved.newBuilder()
                        .setBootId("boot-1")
                        .setFault(Fault.newBuilder()
                                .setDeviceUuid("gpu-0")
                                .setKind(FaultKind.FAULT_KIND_XID)
                                .setXid(79))
                        .build());
    }

    private NodeState state() {
        return nodes.get(NODE).orElseThrow();
    }

    private String heldBackBy() {
        return Optional.ofNullable(state().heldBack().get(""))
                .map(held -> held.by())
                .orElse("");
    }

    @Test
    void aFaultDuringMaintenanceIsRecordedAndActsWhenTheWorkIsOver() {
        command(NODE, Command.COMMAND_BEGIN_MAINTENANCE);
        xid79();
        assertThat(state().allEpisodes()).hasSize(1);
        assertThat(state().tainted()).isFalse();
        assertThat(heldBackBy()).isEqualTo("maintenance: ada: new switch");

        command(NODE, Command.COMMAND_END_MAINTENANCE);
        nodes.tick(NODE);

        assertThat(state().tainted()).isTrue();
    }

    @Test
    void anAnnotationOfTheNodeDeclaresMaintenanceToo() {
        placed("fan is replaced");
        xid79();
        assertThat(heldBackBy()).isEqualTo("maintenance: fan is replaced");

        placed("");
        nodes.tick(NODE);

        assertThat(state().tainted()).isTrue();
    }

    @Test
    void aNodeThatIsTaintedAlreadyStaysSoAndIsNotDrainedDuringMaintenance() {
        xid79();
        assertThat(state().drainOrder().isNone()).isFalse();

        command(NODE, Command.COMMAND_BEGIN_MAINTENANCE);

        assertThat(state().tainted()).isTrue();
        assertThat(state().drainOrder()).isEqualTo(DrainOrder.NONE);
    }

    @Test
    void aFrozenFleetTakesNothingNewOutOfServiceUntilItIsUnfrozen() {
        command(FleetCommandDecider.FLEET, Command.COMMAND_FREEZE);
        xid79();
        assertThat(state().tainted()).isFalse();
        assertThat(heldBackBy()).isEqualTo("frozen by ada: new switch");

        command(FleetCommandDecider.FLEET, Command.COMMAND_UNFREEZE);
        nodes.tick(NODE);

        assertThat(state().tainted()).isTrue();
    }

    @Test
    void aFreezeOutlivesTheBrakeAndARestart() {
        command(FleetCommandDecider.FLEET, Command.COMMAND_FREEZE);
        command(FleetCommandDecider.FLEET, Command.COMMAND_RESET_BRAKE);
        nodes.advance(Duration.ofDays(2));
        nodes.tick(FleetCommandDecider.FLEET);

        projection.restarted(nodes, nodes.now());
        xid79();

        assertThat(FleetCommandDecider.newest(nodes.get(FleetCommandDecider.FLEET)))
                .isEmpty();
        assertThat(state().tainted()).isFalse();
    }

    @Test
    void maintenanceAndFreezeAreReadAsTheyWereWritten() {
        command(NODE, Command.COMMAND_BEGIN_MAINTENANCE);
        command(FleetCommandDecider.FLEET, Command.COMMAND_FREEZE);

        for (String key : new String[] {NODE, FleetCommandDecider.FLEET}) {
            NodeState written = nodes.get(key).orElseThrow();
            assertThat(projection.read(key, (NodeHealthState) projection.write(key, written)))
                    .isEqualTo(written);
        }
    }
}
