package io.gpufleet.health.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.config.PolicyTexts;
import io.gpufleet.health.model.HealthSignal.DaemonIncarnation;
import io.gpufleet.health.model.device.DeviceHealth;
import io.gpufleet.health.model.device.HealthState;
import io.gpufleet.health.model.fault.Episode;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.fault.RecoveryAction;
import io.gpufleet.model.fault.FaultKind;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** When rules act: threshold, graces, coalescing, recovery dwell and probation. */
class TimingTest {
    private static final FaultCode LINK = FaultCode.of(FaultKind.NVLINK);

    private static NodeScenario with(String rule) {
        return new NodeScenario(PolicyTexts.nvidiaWith("  nvlink: {class: suspect}", "  nvlink: " + rule))
                .announced("gpu-0", "gpu-1");
    }

    private static void link(NodeScenario scenario) {
        scenario.fault("gpu-0", LINK, RecoveryAction.NONE);
    }

    private static boolean withdrawn(NodeScenario scenario) {
        return !scenario.verdict().withdrawn().isEmpty();
    }

    @Test
    void thresholdCountsPartsOfTheWindowAndNoBurst() {
        NodeScenario scenario = with("{class: withdraw, threshold: {count: 3, of: 5, within: PT5M}}");

        for (int i = 0; i < 100; i++) {
            link(scenario);
        }
        assertThat(withdrawn(scenario)).as("one burst").isFalse();
        scenario.advance(Duration.ofMinutes(1));
        link(scenario);
        assertThat(withdrawn(scenario)).isFalse();
        scenario.advance(Duration.ofMinutes(1));
        link(scenario);

        assertThat(withdrawn(scenario)).isTrue();
    }

    @Test
    void observationsBeforeTheWindowDoNotCount() {
        NodeScenario scenario = with("{class: withdraw, threshold: {count: 2, of: 5, within: PT5M}}");

        link(scenario);
        scenario.advance(Duration.ofMinutes(6));
        link(scenario);

        assertThat(withdrawn(scenario)).isFalse();
    }

    @Test
    void faultThatEndsBetweenIsCountedOn() {
        NodeScenario scenario = with("{class: withdraw, threshold: {count: 2, of: 24, within: PT24H}}");

        link(scenario);
        scenario.cleared("gpu-0", LINK).advance(Duration.ofHours(2));
        link(scenario);

        assertThat(withdrawn(scenario)).isTrue();
    }

    @Test
    void linksThatAreDownAtBootActAfterTheGraceOnly() {
        NodeScenario scenario = with("{class: withdraw, bootGrace: PT10M}");

        link(scenario);
        assertThat(withdrawn(scenario)).isFalse();
        scenario.advance(Duration.ofMinutes(11)).tick();
        assertThat(withdrawn(scenario)).as("still down").isTrue();

        scenario.cleared("gpu-0", LINK);
        link(scenario);
        assertThat(withdrawn(scenario)).as("long after the boot").isTrue();
        scenario.withIncarnation(new DaemonIncarnation("boot-2", 2_000, false)).announced("gpu-0", "gpu-1");
        link(scenario);
        assertThat(withdrawn(scenario)).as("the next boot").isFalse();
    }

    @Test
    void repetitionsWithinTheTimeOfCoalescingChangeNothing() {
        NodeScenario scenario = with("{class: withdraw, coalesce: PT1M}");
        link(scenario);
        NodeState once = scenario.state();

        link(scenario);
        assertThat(scenario.state()).isEqualTo(once);
        scenario.advance(Duration.ofMinutes(2));
        link(scenario);

        assertThat(scenario.state().episodesOf("gpu-0").values())
                .extracting(Episode::observations)
                .containsExactly(2L);
    }

    @Test
    void recoveryDwellOfTheRuleKeepsTheDeviceOut() {
        NodeScenario scenario = with("{class: withdraw, recoveryDwell: PT1H}");
        link(scenario);

        scenario.cleared("gpu-0", LINK);
        assertThat(scenario.health("gpu-0")).isInstanceOf(DeviceHealth.Recovering.class);
        scenario.advance(Duration.ofMinutes(61)).tick();

        assertThat(scenario.health("gpu-0").state()).isEqualTo(HealthState.HEALTHY);
    }

    @Test
    void faultOnProbationActsAtOnce() {
        NodeScenario scenario = with("{class: withdraw, grace: PT1M, probation: PT24H}");
        link(scenario);
        assertThat(withdrawn(scenario)).isFalse();
        scenario.advance(Duration.ofMinutes(2)).tick().cleared("gpu-0", LINK);

        scenario.advance(Duration.ofHours(1));
        link(scenario);

        assertThat(withdrawn(scenario)).isTrue();
    }
}
