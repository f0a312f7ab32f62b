package io.gpufleet.health.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.model.HealthSignal.Command;
import io.gpufleet.health.model.HealthSignal.DaemonIncarnation;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.fault.RecommendedAction;
import io.gpufleet.health.model.policy.TestPolicies;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A fault that comes back is answered by the next step: reset, reboot, power cycle, replacement; then only by a person. */
class EscalationTest {
    private final NodeScenario scenario = new NodeScenario(TestPolicies.standard()).announced("gpu-0", "gpu-1");
    private int boots = 1;

    private void boot(String... uuids) {
        boots++;
        scenario.advance(Duration.ofMinutes(5))
                .withIncarnation(new DaemonIncarnation("boot-" + boots, 1_000L * boots, false))
                .announced(uuids)
                .open();
    }

    private RecommendedAction recommended() {
        return scenario.health("gpu-0").recommendedAction();
    }

    @Test
    void faultThatEveryResetEndsComesToAReboot() {
        var asked = new ArrayList<RecommendedAction>();
        for (int i = 0; i < 3; i++) {
            scenario.xid("gpu-0", 48);
            asked.add(recommended());
            scenario.advance(Duration.ofHours(1)).cleared("gpu-0", FaultCode.xid(48));
        }

        assertThat(asked)
                .containsExactly(RecommendedAction.RESET_GPU, RecommendedAction.RESET_GPU, RecommendedAction.REBOOT);
    }

    @Test
    void thirdRebootIsNotAskedFor() {
        var asked = new ArrayList<RecommendedAction>();
        for (int i = 0; i < 5; i++) {
            scenario.xid("gpu-0", 79);
            asked.add(recommended());
            boot("gpu-0", "gpu-1");
        }

        assertThat(asked)
                .isEqualTo(List.of(
                        RecommendedAction.REBOOT,
                        RecommendedAction.REBOOT,
                        RecommendedAction.POWER_CYCLE,
                        RecommendedAction.REPLACE,
                        RecommendedAction.REPLACE));
    }

    @Test
    void rebootThatDoesNotBringTheGpuBackIsAnAttemptToo() {
        scenario.xid("gpu-0", 79);

        boot("gpu-1");
        assertThat(recommended()).isEqualTo(RecommendedAction.REBOOT);
        boot("gpu-1");
        assertThat(recommended()).as("after two of one episode").isEqualTo(RecommendedAction.POWER_CYCLE);
        boot("gpu-1");

        assertThat(recommended()).isEqualTo(RecommendedAction.REPLACE);
        assertThat(scenario.verdict().trusted()).isFalse();
    }

    /** The topics of a node are read at different paces. */
    @Test
    void bootThatFollowsOneOfWhichNothingWasSeenIsNoFurtherAttempt() {
        scenario.xid("gpu-0", 79);
        boot("gpu-0", "gpu-1");
        scenario.xid("gpu-0", 79);

        for (int i = 3; i <= 5; i++) {
            scenario.advance(Duration.ofSeconds(9))
                    .withIncarnation(new DaemonIncarnation("boot-" + i, 1_000L * i, false))
                    .open();
        }
        scenario.announced("gpu-0", "gpu-1");

        assertThat(scenario.health("gpu-0").trusted()).isTrue();
    }

    @Test
    void lastStepEndsOnlyByAPerson() {
        for (int i = 0; i < 4; i++) {
            scenario.xid("gpu-0", 79);
            boot("gpu-0", "gpu-1");
        }
        assertThat(scenario.health("gpu-0").trusted()).as("outlives the boot").isFalse();

        scenario.command(Command.CLEAR, "gpu-0");
        assertThat(scenario.health("gpu-0").trusted()).isTrue();

        scenario.xid("gpu-0", 79);
        assertThat(recommended()).isEqualTo(RecommendedAction.REBOOT);
    }

    @Test
    void attemptsOfLongAgoDoNotCount() {
        for (int i = 0; i < 2; i++) {
            scenario.xid("gpu-0", 79);
            boot("gpu-0", "gpu-1");
        }

        scenario.advance(Duration.ofDays(8)).xid("gpu-0", 79);

        assertThat(recommended()).isEqualTo(RecommendedAction.REBOOT);
    }

    @Test
    void nodeIsTaintedOnceAWithdrawnGpuNeedsAReboot() {
        for (int i = 0; i < 2; i++) {
            scenario.xid("gpu-0", 48);
            assertThat(scenario.verdict().trusted())
                    .as("a reset needs no other GPU")
                    .isTrue();
            scenario.advance(Duration.ofHours(1)).cleared("gpu-0", FaultCode.xid(48));
        }

        scenario.xid("gpu-0", 48);
        assertThat(recommended()).isEqualTo(RecommendedAction.REBOOT);
        assertThat(scenario.verdict().trusted()).isFalse();
        assertThat(scenario.health("gpu-1").trusted()).isTrue();

        boot("gpu-0", "gpu-1");
        assertThat(scenario.verdict().trusted()).as("after the reboot").isTrue();
    }
}
