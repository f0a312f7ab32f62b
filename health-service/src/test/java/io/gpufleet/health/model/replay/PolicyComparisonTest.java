package io.gpufleet.health.model.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.config.PolicyFile;
import io.gpufleet.health.model.Decision;
import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.health.model.HealthSignal;
import io.gpufleet.health.model.HealthSignal.EventMetadata;
import io.gpufleet.health.model.HealthSignal.ReportedFault;
import io.gpufleet.health.model.NodeScenario;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.fault.FaultKind;
import io.gpufleet.health.model.fault.FaultReport;
import io.gpufleet.health.model.fault.RecoveryAction;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
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
        return new PolicyComparison(machine(first), machine(second), differences::add);
    }

    private static HealthMachine machine(String policy) {
        String text = policy.contains("\n") ? policy : PolicyFile.text(policy);
        return new HealthMachine(PolicyFile.parse("test", text), Duration.ofMinutes(10));
    }

    private static HealthSignal fault(FaultCode code, Instant at) {
        return new HealthSignal.FaultObserved(
                new EventMetadata("fact-" + code.slug(), at, Duration.ZERO),
                NodeScenario.INCARNATION,
                new ReportedFault("gpu-0", "H100", code, FaultReport.of(RecoveryAction.NONE)),
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

        comparison.passTime("node-1", NodeScenario.START.plus(Duration.ofHours(1)));

        assertThat(differences).anySatisfy(each -> {
            assertThat(each.decision().rule()).startsWith("patient/nvlink");
            assertThat(each.decision().action()).isEqualTo(Decision.WITHDRAW);
            assertThat(each.at()).isEqualTo(NodeScenario.START.plus(Duration.ofMinutes(10)));
        });
    }
}
