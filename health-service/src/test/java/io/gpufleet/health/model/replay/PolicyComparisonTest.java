package io.gpufleet.health.model.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.gpufleet.health.config.PolicyFile;
import io.gpufleet.health.model.Decision;
import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.health.model.HealthSignal;
import io.gpufleet.health.model.HealthSignal.AnnouncedDevice;
import io.gpufleet.health.model.HealthSignal.DaemonIncarnation;
import io.gpufleet.health.model.HealthSignal.EventMetadata;
import io.gpufleet.health.model.HealthSignal.ReportedFault;
import io.gpufleet.health.model.NodeReference;
import io.gpufleet.health.model.NodeScenario;
import io.gpufleet.health.model.budget.DisruptionBudgets;
import io.gpufleet.health.model.budget.Limit;
import io.gpufleet.health.model.budget.Limits;
import io.gpufleet.health.model.budget.Mode;
import io.gpufleet.health.model.budget.NodeBudgetShare;
import io.gpufleet.health.model.budget.Pool;
import io.gpufleet.health.model.budget.StormBrake;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.fault.FaultReport;
import io.gpufleet.health.model.fault.RecoveryAction;
import io.gpufleet.model.fault.FaultKind;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The same facts under two policies. */
class PolicyComparisonTest {
    private static final String STRICT = """
            policy: strict
            extends: nvidia
            xids:
              13: {class: withdraw, recommendedAction: restart-app}
            """;
    private static final String PATIENT = """
            policy: patient
            extends: nvidia
            kinds:
              nvlink: {class: withdraw, grace: PT10M}
            """;

    private final List<Difference> differences = new ArrayList<>();

    private PolicyComparison comparison(String first, String second) {
        return new PolicyComparison(
                machine(first), machine(second), DisruptionBudgets.NONE, Map.of(), differences::add);
    }

    /** One node of ten may be out. */
    private PolicyComparison limited(String first, String second) {
        var budgets = new DisruptionBudgets(
                List.of(),
                new Pool("default", Map.of(), Mode.ENFORCE, new Limits(new Limit(100, 1), Limit.NONE)),
                Limits.NONE,
                Limits.NONE,
                StormBrake.NONE);
        var fleet = IntStream.rangeClosed(1, 10)
                .boxed()
                .collect(Collectors.toMap(number -> "node-" + number, _ -> new NodeBudgetShare(Map.of(), 1, 0, 8, 0)));
        return new PolicyComparison(machine(first), machine(second), budgets, fleet, differences::add);
    }

    private static HealthSignal announced(int boot, Instant at) {
        return new HealthSignal.DevicesAnnounced(
                new EventMetadata("announced-" + boot, at, Duration.ZERO),
                new DaemonIncarnation("boot-" + boot, boot * 1_000L, false),
                List.of(new AnnouncedDevice("gpu-0", NodeScenario.H100, false)),
                NodeScenario.KNOWN);
    }

    private static HealthSignal observed(boolean ready) {
        return new HealthSignal.NodeObjectObserved(
                new EventMetadata("observed", NodeScenario.START, Duration.ZERO),
                "uid-1",
                new NodeReference.Placement(Map.of(), ready, true, ready));
    }

    private static HealthSignal silence(boolean silent, Instant at) {
        return new HealthSignal.DaemonSilence(new EventMetadata("", at, Duration.ZERO), silent);
    }

    private static HealthMachine machine(String policy) {
        String text = policy.contains("\n") ? policy : PolicyFile.text(policy);
        return new HealthMachine(PolicyFile.parse("test", text), Duration.ofMinutes(10));
    }

    private static HealthSignal fault(FaultCode code, Instant at) {
        return fault("gpu-0", code, at);
    }

    private static HealthSignal fault(String device, FaultCode code, Instant at) {
        return new HealthSignal.FaultObserved(
                new EventMetadata("fact-" + code.slug(), at, Duration.ZERO),
                NodeScenario.INCARNATION,
                new ReportedFault(device, "H100", code, FaultReport.of(RecoveryAction.NONE)),
                "",
                List.of());
    }

    @Test
    void samePolicyDiffersNowhere() {
        PolicyComparison comparison = comparison("nvidia", "nvidia");

        for (int xid : List.of(13, 31, 48, 79, 95)) {
            comparison.signal("node-1", fault(FaultCode.xid(xid), NodeScenario.START.plusSeconds(xid)));
        }

        assertThat(differences).isEmpty();
    }

    @Test
    void hardwareFaultGoesWithItsGpuToAnotherNode() {
        PolicyComparison comparison =
                comparison("nvidia", "policy: lax\nextends: nvidia\nxids: {54: {class: suspect}}\n");
        comparison.signal("node-1", announced(1, NodeScenario.START));
        comparison.signal("node-1", fault(FaultCode.xid(54), NodeScenario.START.plusSeconds(1)));
        differences.clear();

        comparison.signal("node-2", announced(2, NodeScenario.START.plusSeconds(2)));

        assertThat(differences)
                .extracting(
                        Difference::node,
                        Difference::first,
                        each -> each.decision().action())
                .contains(tuple("node-2", true, Decision.WITHDRAW), tuple("node-2", true, Decision.APPLY_TAINT));
    }

    /** While its former node is heard, a GPU that two nodes announce stays there too. */
    @Test
    void hardwareFaultLeavesANodeThatIsSilentWithItsGpu() {
        PolicyComparison comparison =
                comparison("nvidia", "policy: lax\nextends: nvidia\nxids: {54: {class: suspect}}\n");
        comparison.signal("node-1", observed(true));
        comparison.signal("node-1", announced(1, NodeScenario.START));
        comparison.signal("node-1", fault(FaultCode.xid(54), NodeScenario.START.plusSeconds(1)));
        comparison.signal("node-1", silence(true, NodeScenario.START.plusSeconds(120)));
        differences.clear();

        comparison.signal("node-2", announced(2, NodeScenario.START.plusSeconds(180)));

        assertThat(differences)
                .extracting(
                        Difference::node,
                        Difference::first,
                        each -> each.decision().action())
                .contains(tuple("node-1", true, Decision.REMOVE_TAINT));
    }

    @Test
    void hardwareFaultStaysOnANodeThatIsHeardAgain() {
        PolicyComparison comparison =
                comparison("nvidia", "policy: lax\nextends: nvidia\nxids: {54: {class: suspect}}\n");
        comparison.signal("node-1", observed(true));
        comparison.signal("node-1", announced(1, NodeScenario.START));
        comparison.signal("node-1", fault(FaultCode.xid(54), NodeScenario.START.plusSeconds(1)));
        comparison.signal("node-1", silence(true, NodeScenario.START.plusSeconds(120)));
        comparison.signal("node-1", silence(false, NodeScenario.START.plusSeconds(150)));
        differences.clear();

        comparison.signal("node-2", announced(2, NodeScenario.START.plusSeconds(180)));

        assertThat(differences).extracting(Difference::node).containsOnly("node-2");
    }

    @Test
    void nodeThatIsNotReadyUsesUpTheBudget() {
        PolicyComparison comparison = limited("nvidia", "nvidia");
        comparison.signal("node-1", observed(false));

        comparison.signal("node-2", fault(FaultCode.xid(79), NodeScenario.START.plusSeconds(1)));

        assertThat(comparison.summaries()).allSatisfy(summary -> {
            assertThat(summary.taints()).isZero();
            assertThat(summary.heldBack()).isEqualTo(1);
        });
    }

    @Test
    void stricterRuleIsADecisionOfOnePolicyOnly() {
        comparison("nvidia", STRICT).signal("node-1", fault(FaultCode.xid(13), NodeScenario.START));

        assertThat(differences)
                .filteredOn(each -> !each.first())
                .anySatisfy(each -> assertThat(each.decision().action()).isEqualTo(Decision.WITHDRAW))
                .first()
                .satisfies(each -> assertThat(each.line())
                        .isEqualTo(NodeScenario.START
                                + " node-1 gpu-0: only strict/xid-13 decides: withdraw device"
                                + " (HEALTHY -> UNHEALTHY)"));
    }

    @Test
    void decisionThatOnlyTimeBringsIsFoundToo() {
        PolicyComparison comparison = comparison("nvidia", PATIENT);
        comparison.signal("node-1", fault(FaultCode.of(FaultKind.NVLINK), NodeScenario.START));
        differences.clear();

        comparison.passTime(NodeScenario.START.plus(Duration.ofHours(1)));

        assertThat(differences).anySatisfy(each -> {
            assertThat(each.decision().rule()).startsWith("patient/nvlink");
            assertThat(each.decision().action()).isEqualTo(Decision.WITHDRAW);
            assertThat(each.at()).isEqualTo(NodeScenario.START.plus(Duration.ofMinutes(10)));
        });
    }

    @Test
    void budgetHoldsBackTheSameUnderTheSamePolicy() {
        PolicyComparison comparison = limited("nvidia", "nvidia");

        comparison.signal("node-1", fault(FaultCode.xid(79), NodeScenario.START));
        comparison.signal("node-2", fault(FaultCode.xid(79), NodeScenario.START.plusSeconds(1)));

        assertThat(differences).isEmpty();
        assertThat(comparison.summaries()).allSatisfy(summary -> {
            assertThat(summary.taints()).isEqualTo(1);
            assertThat(summary.withdrawals()).isEqualTo(2);
            assertThat(summary.heldBack()).isEqualTo(1);
            assertThat(summary.mostTainted()).isEqualTo(1);
            assertThat(summary.mostAt()).isEqualTo(NodeScenario.START);
        });
    }

    @Test
    void stricterPolicyThatUsesUpTheBudgetHoldsBackWhatTheOtherTaints() {
        String taintsAtOnce = """
                policy: strict
                extends: nvidia
                xids:
                  13: {class: taint-reboot, recommendedAction: reboot}
                """;
        PolicyComparison comparison = limited("nvidia", taintsAtOnce);

        comparison.signal("node-1", fault(FaultCode.xid(13), NodeScenario.START));
        differences.clear();
        comparison.signal("node-2", fault(FaultCode.xid(79), NodeScenario.START.plusSeconds(1)));

        assertThat(differences)
                .extracting(Difference::line)
                .anyMatch(line -> line.contains("node-2: only nvidia/xid-79 decides: taint node"))
                .anyMatch(line ->
                        line.contains("node-2: only strict/xid-79 decides: none, would taint node: nodes of pool"
                                        + " default")
                                && line.contains("OVER_BUDGET"));
        assertThat(comparison.summaries())
                .extracting(ReplaySummary::line)
                .containsExactly(
                        "nvidia                      1          1          0  1 at 2026-03-01T10:00:01Z",
                        "strict                      1          2          1  1 at 2026-03-01T10:00:00Z");
    }

    @Test
    void heldBackTaintIsCarriedOutWhenAnotherNodeReturns() {
        PolicyComparison comparison = limited("nvidia", "nvidia");
        comparison.signal("node-1", announced(1, NodeScenario.START));
        comparison.signal("node-1", fault(FaultCode.xid(79), NodeScenario.START.plusSeconds(1)));
        comparison.signal("node-2", fault("gpu-2", FaultCode.xid(79), NodeScenario.START.plusSeconds(2)));

        comparison.signal("node-1", announced(2, NodeScenario.START.plusSeconds(600)));
        comparison.passTime(NodeScenario.START.plus(Duration.ofHours(2)));

        assertThat(comparison.summaries()).allSatisfy(summary -> {
            assertThat(summary.taints()).isEqualTo(2);
            assertThat(summary.mostTainted()).isEqualTo(1);
        });
    }

    @Test
    void timeOfOneNodePassesBeforeALaterSignalOfAnother() {
        PolicyComparison comparison = comparison("nvidia", PATIENT);
        comparison.signal("node-1", fault(FaultCode.of(FaultKind.NVLINK), NodeScenario.START));
        differences.clear();

        comparison.signal("node-2", fault(FaultCode.xid(13), NodeScenario.START.plus(Duration.ofHours(1))));

        assertThat(differences)
                .extracting(Difference::node, Difference::at)
                .contains(tuple("node-1", NodeScenario.START.plus(Duration.ofMinutes(10))));
    }
}
