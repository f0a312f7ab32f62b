package io.gpufleet.health.model.nodepatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.model.HealthSignal.Command;
import io.gpufleet.health.model.NodeScenario;
import io.gpufleet.health.model.policy.TestPolicies;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class DesiredNodeTest {
    private final NodeScenario scenario = new NodeScenario(TestPolicies.standard()).announced("gpu-0", "gpu-1");

    private DesiredNode desired() {
        return DesiredNode.of(scenario.verdict());
    }

    @Test
    void labelIsQuarantinedOnlyByAnOperator() {
        scenario.xid("gpu-0", 79);
        assertThat(desired().label()).isEqualTo("unhealthy");

        scenario.command(Command.QUARANTINE, "");
        assertThat(desired().label()).isEqualTo("quarantined");
        assertThat(desired().taint()).isEqualTo("Quarantined");
    }

    @Test
    void messageListsTheWithdrawnDevicesAndTheRecommendedAction() {
        scenario.xid("gpu-0", 48);

        assertThat(desired().condition().message())
                .isEqualTo("1 GPU out of service: gpu-0 Xid48; recommended action: reset-gpu");
        assertThat(desired().label()).isEqualTo("degraded");
    }

    @Test
    void messageIsTheReasonWithoutWithdrawnDevices() {
        scenario.xid("", 79);

        assertThat(desired().condition().message()).isEqualTo("Xid79; recommended action: reboot");
    }

    @Test
    void messageListsEightDevices() {
        String[] gpus = IntStream.range(0, 10).mapToObj(i -> "gpu-" + i).toArray(String[]::new);
        scenario.announced(gpus);
        for (String gpu : gpus) {
            scenario.xid(gpu, 48);
        }

        assertThat(desired().condition().message())
                .startsWith("10 GPUs out of service: gpu-0 Xid48, gpu-1 Xid48,")
                .contains("gpu-7 Xid48 and 2 more; recommended action: reset-gpu")
                .doesNotContain("gpu-8");
    }

    @Test
    void messageReportsAManualOverride() {
        scenario.xid("gpu-0", 79).taintRemoved();

        assertThat(desired().condition().message())
                .isEqualTo("1 GPU out of service: gpu-0 Xid79; recommended action: reboot;"
                        + " manual override: taint removed");
        assertThat(desired().taint()).isEmpty();
        assertThat(desired().label()).isEqualTo("degraded");
    }

    @Test
    void healthyNodeHasNoFields() {
        assertThat(desired().isEmpty()).isTrue();
        assertThat(desired().condition().status()).isEqualTo("False");
    }
}
