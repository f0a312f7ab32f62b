package io.gpufleet.health.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.model.HealthSignal.Command;
import io.gpufleet.health.model.device.DeviceHealth;
import io.gpufleet.health.model.policy.TestPolicies;
import java.util.List;
import org.junit.jupiter.api.Test;

class OperatorCommandHandlerTest {
    private final NodeScenario scenario = new NodeScenario(TestPolicies.standard()).announced("gpu-0", "gpu-1");

    private String conflict(Command command, String device) {
        return OperatorCommandHandler.conflict(scenario.state(), command, device)
                .orElse("");
    }

    @Test
    void commandThatChangesNothingIsRefusedWithItsReason() {
        assertThat(conflict(Command.RELEASE, "")).isEqualTo("node node-1 is not quarantined");
        assertThat(conflict(Command.RELEASE, "gpu-0")).isEqualTo("device gpu-0 is not quarantined");
        assertThat(conflict(Command.RETIRE, "gpu-0")).isEqualTo("device gpu-0 is not quarantined: quarantine it first");
        assertThat(conflict(Command.CLEAR, "gpu-0")).isEqualTo("device gpu-0 has no faults to forget");

        scenario.command(Command.QUARANTINE, "").command(Command.QUARANTINE, "gpu-0");

        assertThat(conflict(Command.QUARANTINE, "")).isEqualTo("node node-1 is quarantined already");
        assertThat(conflict(Command.QUARANTINE, "gpu-0")).isEqualTo("device gpu-0 is quarantined already");
        assertThat(conflict(Command.RELEASE, "")).isEmpty();
        assertThat(conflict(Command.RETIRE, "gpu-0")).isEmpty();
    }

    @Test
    void nodeWithANodeObjectIsNotForgotten() {
        assertThat(conflict(Command.FORGET, "")).isEmpty();

        scenario.nodeObserved("uid-1");

        assertThat(conflict(Command.FORGET, "")).contains("has a Node object");
    }

    @Test
    void retiredDeviceComesBackByQuarantineAndRelease() {
        scenario.command(Command.QUARANTINE, "gpu-0").command(Command.RETIRE, "gpu-0");
        assertThat(conflict(Command.RELEASE, "gpu-0")).isNotEmpty();

        scenario.command(Command.QUARANTINE, "gpu-0").command(Command.RELEASE, "gpu-0");

        assertThat(scenario.health("gpu-0")).isInstanceOf(DeviceHealth.Healthy.class);
    }

    @Test
    void faultsOfARetiredDeviceDoNotTaintTheNode() {
        scenario.xid("gpu-0", 79).command(Command.QUARANTINE, "gpu-0");
        assertThat(scenario.verdict().trusted()).isFalse();

        scenario.command(Command.RETIRE, "gpu-0");

        assertThat(scenario.verdict().trusted()).isTrue();
    }

    @Test
    void deviceThatLeftIsNotBackWhenItIsReleased() {
        // Given a GPU with a fault that another one replaced over a boot
        scenario.xid("gpu-0", 48)
                .withIncarnation(new HealthSignal.DaemonIncarnation("boot-2", 2_000, false))
                .announced("gpu-1", "gpu-2");
        assertThat(scenario.state().devices()).containsOnlyKeys("gpu-1", "gpu-2");
        assertThat(scenario.state().hardware().isFormer("gpu-0")).isTrue();

        // When
        scenario.command(Command.QUARANTINE, "gpu-0").command(Command.RELEASE, "gpu-0");

        // Then nothing of this node depends on it, and what it did goes with it
        assertThat(scenario.state().devices()).containsOnlyKeys("gpu-1", "gpu-2");
        assertThat(scenario.verdict().devices()).isEmpty();
        assertThat(scenario.health("gpu-0")).isInstanceOf(DeviceHealth.Unhealthy.class);

        // When
        scenario.command(Command.CLEAR, "gpu-0");

        // Then
        assertThat(scenario.state().device("gpu-0")).isEmpty();
        assertThat(scenario.state().devices()).containsOnlyKeys("gpu-1", "gpu-2");
    }

    @Test
    void orderOfReleaseAndBootDoesNotMatterForAGpuThatWasNeverAnnounced() {
        // Given two nodes with a fault that no boot ends, of a GPU that an operator keeps out of service as well
        var boot = new HealthSignal.DaemonIncarnation("boot-2", 2_000, false);
        scenario.xid("gpu-9", 54).command(Command.QUARANTINE, "gpu-9");
        var other = new NodeScenario(TestPolicies.standard())
                .announced("gpu-0", "gpu-1")
                .xid("gpu-9", 54)
                .command(Command.QUARANTINE, "gpu-9");

        // When a boot shows one GPU less than before
        scenario.command(Command.RELEASE, "gpu-9").withIncarnation(boot).announced("gpu-0");
        other.withIncarnation(boot).announced("gpu-0").command(Command.RELEASE, "gpu-9");

        // Then
        for (NodeScenario node : List.of(scenario, other)) {
            assertThat(node.verdict().devices())
                    .extracting(Verdict.DeviceVerdict::uuid)
                    .contains("gpu-9");
        }
    }

    @Test
    void clearedDeviceIsTrustedAgain() {
        scenario.xid("gpu-0", 54)
                .withIncarnation(new HealthSignal.DaemonIncarnation("boot-2", 2_000, false))
                .announced("gpu-0", "gpu-1");
        assertThat(scenario.verdict().trusted()).isFalse();

        scenario.command(Command.CLEAR, "gpu-0");

        assertThat(scenario.verdict().trusted()).isTrue();
        assertThat(scenario.health("gpu-0")).isInstanceOf(DeviceHealth.Healthy.class);
    }
}
