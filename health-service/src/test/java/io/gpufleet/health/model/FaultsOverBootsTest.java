package io.gpufleet.health.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.model.HealthSignal.DaemonIncarnation;
import io.gpufleet.health.model.device.DeviceHealth;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.fault.RecommendedAction;
import io.gpufleet.health.model.policy.TestPolicies;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What a boot proves about the faults before it. */
class FaultsOverBootsTest {
    private final NodeScenario scenario = new NodeScenario(TestPolicies.standard()).announced("gpu-0", "gpu-1");
    private int boots = 1;

    /** The node boots and announces these GPUs; its daemon knows no faults. */
    private NodeScenario boot(String... uuids) {
        return beginBoot().announced(uuids).open();
    }

    private NodeScenario beginBoot() {
        boots++;
        return scenario.advance(Duration.ofMinutes(5))
                .withIncarnation(new DaemonIncarnation("boot-" + boots, 1_000L * boots, false));
    }

    @Test
    void gpuThatIsGoneAfterTheBootStaysOut() {
        scenario.xid("gpu-0", 79);

        boot("gpu-1");

        assertThat(scenario.health("gpu-0").trusted()).isFalse();
        assertThat(scenario.verdict().trusted()).isFalse();
        assertThat(scenario.verdict().health().reason()).isEqualTo("Xid79");
    }

    @Test
    void orderOfTheSignalsOfABootDoesNotMatterForAGpuThatIsGone() {
        scenario.xid("gpu-0", 79);

        beginBoot().open().announced("gpu-1");

        assertThat(scenario.verdict().trusted()).isFalse();
    }

    @Test
    void allGpusGoneAfterTheBootIsNoHealthyNode() {
        scenario.xid("gpu-0", 48).xid("gpu-1", 48);

        boot();

        assertThat(scenario.verdict().trusted()).isFalse();
        assertThat(scenario.verdict().withdrawn()).hasSize(2);
    }

    @Test
    void gpuThatIsBackIsTrustedAgain() {
        scenario.xid("gpu-0", 79);
        boot("gpu-1");

        scenario.announced("gpu-0", "gpu-1");

        assertThat(scenario.verdict().trusted()).isTrue();
        assertThat(scenario.health("gpu-0")).isInstanceOf(DeviceHealth.Healthy.class);
    }

    @Test
    void replacedGpuIsForgotten() {
        scenario.xid("gpu-0", 79);

        boot("gpu-1", "gpu-new");

        assertThat(scenario.verdict().trusted()).isTrue();
        assertThat(scenario.verdict().devices()).isEmpty();
    }

    @Test
    void lostGpuThatIsGoneAfterTheBootStaysLost() {
        scenario.announcedLost("gpu-0", "gpu-1");

        boot("gpu-1");

        assertThat(scenario.health("gpu-0")).isInstanceOf(DeviceHealth.Lost.class);
    }

    @Test
    void bootProvesNothingAboutAHardwareFault() {
        scenario.xid("gpu-0", 54);

        boot("gpu-0", "gpu-1");

        assertThat(scenario.verdict().trusted()).isFalse();
        assertThat(scenario.verdict().health().reason()).isEqualTo("Xid54");
    }

    @Test
    void hardwareFaultEndsByProof() {
        scenario.xid("gpu-0", 54);
        boot("gpu-0", "gpu-1").xid("gpu-0", 54);

        scenario.cleared("gpu-0", FaultCode.xid(54));

        assertThat(scenario.verdict().trusted()).isTrue();
    }

    /** A daemon closes every fault of the former boot when the node booted: that says no more than the boot itself. */
    @Test
    void faultThatItsDaemonClosesSinceTheNodeBootedIsNotProvenGone() {
        scenario.xid("gpu-0", 54);

        beginBoot()
                .cleared("gpu-0", FaultCode.xid(54))
                .announced("gpu-0", "gpu-1")
                .open();

        assertThat(scenario.verdict().trusted()).isFalse();
        assertThat(scenario.verdict().health().reason()).isEqualTo("Xid54");
    }

    @Test
    void faultThatNoAttemptRepairedIsNotProvenGoneByAnotherBoot() {
        scenario.xid("gpu-0", 79);
        for (int boot = 0; boot < 3; boot++) {
            boot("gpu-0", "gpu-1").xid("gpu-0", 79);
        }
        assertThat(scenario.health("gpu-0").recommendedAction()).isEqualTo(RecommendedAction.REPLACE);

        beginBoot()
                .cleared("gpu-0", FaultCode.xid(79))
                .announced("gpu-0", "gpu-1")
                .open();

        assertThat(scenario.verdict().trusted()).isFalse();
    }

    @Test
    void gpuThatIsGoneStaysOutWhenItsDaemonClosesTheFaultsOfTheFormerBoot() {
        scenario.xid("gpu-0", 79);

        beginBoot().cleared("gpu-0", FaultCode.xid(79)).announced("gpu-1").open();

        assertThat(scenario.health("gpu-0").trusted()).isFalse();
        assertThat(scenario.verdict().health().reason()).isEqualTo("Xid79");
    }

    @Test
    void bootsThatEndedFaultsLongAgoDoNotCount() {
        scenario.xid("gpu-0", 95);
        boot("gpu-0", "gpu-1").xid("gpu-0", 95);
        boot("gpu-0", "gpu-1").advance(Duration.ofDays(8)).xid("gpu-0", 95);

        boot("gpu-0", "gpu-1");

        assertThat(scenario.health("gpu-0").trusted()).isTrue();
    }

    @Test
    void faultThatIsReadAfterTheNextBootKeepsTheMissingGpuOut() {
        beginBoot().announced("gpu-1");

        scenario.withIncarnation(NodeScenario.INCARNATION).xid("gpu-0", 79);

        assertThat(scenario.verdict().trusted()).isFalse();
    }

    @Test
    void bootOfALowerEpochIsNotEndedByWhatTheFormerOneWroteToAnotherTopic() {
        // Given a machine whose clock was set back and whose daemon lost its state
        var former = new DaemonIncarnation("boot-1", 5_000, false);
        scenario.withIncarnation(former).announced("gpu-0", "gpu-1");
        scenario.withIncarnation(new DaemonIncarnation("boot-2", 1_000, true)).announced("gpu-0", "gpu-1");
        // When what the former boot wrote to another topic is read, and what the new one did
        scenario.withIncarnation(former).open();
        scenario.withIncarnation(new DaemonIncarnation("boot-2", 1_000, false)).xid("gpu-0", 79);
        // Then
        assertThat(scenario.state().boot().id()).isEqualTo("boot-2");
        assertThat(scenario.verdict().trusted()).isFalse();
    }
}
