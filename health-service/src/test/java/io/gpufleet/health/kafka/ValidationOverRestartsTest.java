package io.gpufleet.health.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.health.model.NodeScenario;
import io.gpufleet.health.model.budget.DisruptionBudgets;
import io.gpufleet.health.model.device.DeviceHealth;
import io.gpufleet.health.model.device.HealthState;
import io.gpufleet.health.model.fault.RecommendedAction;
import io.gpufleet.health.model.policy.TestPolicies;
import io.gpufleet.health.model.remediation.Remediation;
import io.gpufleet.health.model.remediation.Remediation.RemediatedDevice;
import io.gpufleet.health.model.remediation.RemediationProgress.Phase;
import io.gpufleet.proto.health.v1.Fault;
import io.gpufleet.proto.health.v1.FaultKind;
import io.gpufleet.proto.health.v1.FaultObserved;
import io.gpufleet.proto.inventory.v1.Gpu;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What a passed validation ends stays ended for the next replica, which knows only the changelog. */
class ValidationOverRestartsTest {
    private static final String NODE = "node-1";
    private static final String GPU = "gpu-0";

    private ProjectedNodes nodes = new ProjectedNodes(projection(), NodeScenario.START);
    private int boot = 1;

    private static HealthProjection projection() {
        return new HealthProjection(
                new HealthMachine(
                        TestPolicies.remediating(TestPolicies.standard(), RecommendedAction.VALIDATE),
                        Duration.ofMinutes(10)),
                DisruptionBudgets.NONE);
    }

    private void announced() {
        nodes.daemon(
                NODE,
                boot,
                Topic.INVENTORY,
                EventType.NODE_ANNOUNCED,
                NodeAnnounced.newBuilder()
                        .setBootId("boot-" + boot)
                        .addGpus(Gpu.newBuilder().setUuid(GPU))
                        .addGpus(Gpu.newBuilder().setUuid("gpu-1"))
                        .build());
    }

    private void xid79() {
        nodes.advance(Duration.ofMinutes(5));
        nodes.daemon(
                NODE,
                boot,
                Topic.HEALTH,
                EventType.FAULT_OBSERVED,
                FaultObserved.newBuilder()
                        .setBootId("boot-" + boot)
                        .setFault(Fault.newBuilder()
                                .setDeviceUuid(GPU)
                                .setKind(FaultKind.FAULT_KIND_XID)
                                .setXid(79))
                        .build());
    }

    private void reported(Remediation validation, Phase phase) {
        nodes.advance(Duration.ofSeconds(1));
        nodes.service(
                NODE,
                EventType.KUBERNETES_OBSERVED,
                ReportedFacts.remediation(validation, phase, "tester").build());
    }

    private Remediation validation() {
        return new Remediation(
                new Remediation.Target("uid-" + NODE, "boot-" + boot, List.of(new RemediatedDevice(GPU, ""))),
                RecommendedAction.VALIDATE,
                "Xid79 ended",
                1,
                nodes.now().plus(Duration.ofMinutes(30)),
                List.of());
    }

    private DeviceHealth health() {
        return nodes.get(NODE).orElseThrow().device(GPU).orElseThrow().health();
    }

    private void restart() {
        nodes = nodes.restored(projection());
    }

    @Test
    void lastStepEndsWithAPassedValidationAndTheNextFaultBeginsAtTheFirst() {
        nodes.observed(NODE, Map.of());
        announced();
        for (int i = 0; i < 3; i++) {
            xid79();
            boot++;
            announced();
        }
        xid79();
        assertThat(health().recommendedAction()).isEqualTo(RecommendedAction.REPLACE);
        boot++;
        announced();
        assertThat(health().state()).isEqualTo(HealthState.RECOVERING);
        // When
        Remediation validation = validation();
        reported(validation, Phase.REQUESTED);
        restart();
        reported(validation, Phase.SUCCEEDED);
        restart();
        // Then
        assertThat(health().state()).isEqualTo(HealthState.HEALTHY);
        xid79();
        assertThat(health().recommendedAction()).isEqualTo(RecommendedAction.REBOOT);
    }
}
