package io.gpufleet.health.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.health.model.NodeScenario;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.budget.DisruptionBudgets;
import io.gpufleet.health.model.drain.DrainMode;
import io.gpufleet.health.model.drain.DrainProgress;
import io.gpufleet.health.model.fault.Episode;
import io.gpufleet.health.model.fault.RecommendedAction;
import io.gpufleet.health.model.policy.TestPolicies;
import io.gpufleet.health.model.remediation.Remediation;
import io.gpufleet.health.model.remediation.RemediationProgress;
import io.gpufleet.proto.signal.v1.DrainPhase;
import io.gpufleet.proto.signal.v1.DrainReported;
import io.gpufleet.proto.signal.v1.KubernetesFact;
import io.gpufleet.wire.EventType;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What two leaders asked for, one after the other, each within the limits as it knew them. */
class FleetAdmissionTest {
    private static final String JOB = "ml/Job/train";

    private final ProjectedNodes nodes = new ProjectedNodes(
            new HealthProjection(
                    new HealthMachine(
                            TestPolicies.remediating(
                                    TestPolicies.draining(DrainMode.GPU_PODS), RecommendedAction.REBOOT),
                            Duration.ofMinutes(10)),
                    DisruptionBudgets.NONE),
            NodeScenario.START);

    FleetAdmissionTest() {
        for (String node : List.of("node-1", "node-2", "node-3")) {
            nodes.observed(node, Map.of());
            nodes.announced(node, "gpu-of-" + node);
            nodes.offTheBus(node, "gpu-of-" + node);
        }
    }

    private void drains(String node, String... jobs) {
        reports(node, DrainPhase.DRAIN_PHASE_ACTIVE, jobs);
    }

    private void reports(String node, DrainPhase phase, String... jobs) {
        nodes.service(
                node,
                EventType.KUBERNETES_OBSERVED,
                KubernetesFact.newBuilder()
                        .setDrain(DrainReported.newBuilder()
                                .setNodeUid("uid-" + node)
                                .setPhase(phase)
                                .addAllJobs(List.of(jobs))
                                .setMessage("begins"))
                        .build());
    }

    private DrainProgress drain(String node) {
        return state(node).acting().drain();
    }

    private NodeState state(String node) {
        return nodes.get(node).orElseThrow();
    }

    @Test
    void secondNodeOfAJobWaits() {
        drains("node-1", JOB);
        drains("node-2", JOB, "ml/Job/other");

        assertThat(drain("node-1").active()).isTrue();
        assertThat(drain("node-2").phase()).isEqualTo(DrainProgress.Phase.WAITING);
        assertThat(drain("node-2").message()).isEqualTo("waits: job " + JOB + " lost pods on node node-1");
    }

    @Test
    void nodeBeyondTheNumberOfNodesWaits() {
        drains("node-1", "a");
        drains("node-2", "b");
        drains("node-3", "c");

        assertThat(drain("node-2").active()).isTrue();
        assertThat(drain("node-3").phase()).isEqualTo(DrainProgress.Phase.WAITING);
    }

    @Test
    void drainThatBeganGoesOnWithItsJobsAndGetsNoJobOfAnother() {
        drains("node-1", JOB);
        drains("node-2", "ml/Job/other");
        drains("node-1", JOB);
        drains("node-2", "ml/Job/other", JOB);

        assertThat(drain("node-1").jobs()).containsExactly(JOB);
        assertThat(drain("node-2").jobs()).containsExactly("ml/Job/other");
        assertThat(drain("node-2").active()).isTrue();
    }

    @Test
    void jobThatLostPodsOnANodeIsProtectedAlsoWhenThatNodeHasToWaitNext() {
        drains("node-1", JOB);
        reports("node-1", DrainPhase.DRAIN_PHASE_DRAINED, JOB);
        drains("node-2", "b");
        drains("node-3", "c");

        drains("node-1", "d");
        assertThat(drain("node-1").phase()).isEqualTo(DrainProgress.Phase.WAITING);
        reports("node-2", DrainPhase.DRAIN_PHASE_DRAINED, "b");
        drains("node-2", JOB);

        assertThat(drain("node-2").active()).isFalse();
        assertThat(drain("node-2").message()).isEqualTo("waits: job " + JOB + " lost pods on node node-1");
    }

    @Test
    void secondNodeIsNotWorkedOnWhereOneMayBe() {
        reboots("node-1");
        reboots("node-2");

        assertThat(state("node-1").acting().remediation().open()).isTrue();
        assertThat(state("node-2").acting().remediation()).isEqualTo(RemediationProgress.NONE);
    }

    private void reboots(String node) {
        var reboot = new Remediation(
                new Remediation.Target("uid-" + node, "boot-1", List.of()),
                RecommendedAction.REBOOT,
                "xid-79",
                1,
                nodes.now().plus(Duration.ofMinutes(30)),
                state(node).allEpisodes().map(Episode::eventId).toList());
        nodes.service(
                node,
                EventType.KUBERNETES_OBSERVED,
                KubernetesFact.newBuilder()
                        .setRemediation(
                                RemediationMapper.toWire(reboot, RemediationProgress.Phase.REQUESTED, "asked for"))
                        .build());
    }
}
