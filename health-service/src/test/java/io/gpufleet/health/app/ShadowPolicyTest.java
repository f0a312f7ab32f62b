package io.gpufleet.health.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.config.PolicyFile;
import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.health.model.HealthSignal;
import io.gpufleet.health.model.NodeScenario;
import io.gpufleet.health.model.budget.DisruptionBudgets;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.fault.FaultReport;
import io.gpufleet.health.model.fault.RecoveryAction;
import io.gpufleet.health.model.replay.Difference;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A second policy beside the one in force. */
class ShadowPolicyTest {
    private static final String STRICT = """
            policy: strict
            extends: nvidia
            xids:
              13: {class: withdraw, recommendedAction: restart-app}
            """;

    private final AtomicReference<HealthMachine> second = new AtomicReference<>(machine(STRICT));
    private final ShadowPolicy shadow = shadow(machine("nvidia"));

    private ShadowPolicy shadow(HealthMachine policy) {
        return new ShadowPolicy(
                new ShadowPolicy.Sources(() -> policy, second::get, () -> DisruptionBudgets.NONE, Map::of));
    }

    private static HealthMachine machine(String policy) {
        String text = policy.contains("\n") ? policy : PolicyFile.text(policy);
        return new HealthMachine(PolicyFile.parse("test", text), Duration.ofMinutes(10));
    }

    private static HealthSignal fault(String device, int xid, Instant at) {
        return new HealthSignal.FaultObserved(
                new HealthSignal.EventMetadata("fault-" + xid + "-" + at, at, Duration.ZERO),
                NodeScenario.INCARNATION,
                new HealthSignal.ReportedFault(device, "H100", FaultCode.xid(xid), FaultReport.of(RecoveryAction.NONE)),
                "",
                List.of());
    }

    @Test
    void whatOnlyTheShadowPolicyDecidesIsKeptAndCounted() {
        shadow.begin(NodeScenario.START);
        shadow.loaded();

        shadow.signal("node-1", fault("gpu-0", 13, NodeScenario.START));

        assertThat(shadow.ofNode("node-1", 9))
                .filteredOn(difference -> !difference.first())
                .first()
                .extracting(Difference::line)
                .asString()
                .contains("only strict/xid-13 decides: withdraw device");
        assertThat(shadow.onlyShadow()).isPositive();
        assertThat(shadow.ofNode("node-2", 9)).isEmpty();
        assertThat(shadow.snapshot(9).summaries())
                .extracting(summary -> summary.policy() + " " + summary.withdrawals())
                .containsExactly("nvidia 0", "strict 1");
    }

    @Test
    void whatWasToldBeforeTheStartIsShownAndNotCounted() {
        shadow.begin(NodeScenario.START);

        shadow.signal("node-1", fault("gpu-0", 13, NodeScenario.START));

        assertThat(shadow.snapshot(9).loaded()).isFalse();
        assertThat(shadow.snapshot(9).differences()).isNotEmpty();
        assertThat(shadow.onlyShadow()).isZero();
    }

    @Test
    void replacedPolicyIsComparedFromTheBegin() {
        shadow.begin(NodeScenario.START);
        shadow.signal("node-1", fault("gpu-0", 13, NodeScenario.START));
        assertThat(shadow.isOutdated()).isFalse();

        second.set(machine("nvidia"));

        assertThat(shadow.isOutdated()).isTrue();
        shadow.begin(NodeScenario.START);
        shadow.signal("node-1", fault("gpu-0", 13, NodeScenario.START));
        assertThat(shadow.isOutdated()).isFalse();
        assertThat(shadow.snapshot(9).differences()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void equalPolicyDiffersNowhere(long seed) {
        var random = new Random(seed);
        second.set(machine("nvidia"));
        shadow.begin(NodeScenario.START);
        Instant now = NodeScenario.START;

        for (int step = 0; step < 500; step++) {
            now = now.plusSeconds(random.nextInt(600));
            shadow.signal("node-" + random.nextInt(5), fault("gpu-" + random.nextInt(8), 10 + random.nextInt(90), now));
            shadow.passTime(now);
        }

        assertThat(shadow.snapshot(9).differences()).as("seed %d", seed).isEmpty();
        assertThat(shadow.snapshot(9).summaries().getFirst().withdrawals()).isPositive();
    }

    @Test
    void oldDifferencesMakeRoomForNewOnes() {
        shadow.begin(NodeScenario.START);

        for (int node = 0; node < ShadowPolicy.KEPT + 5; node++) {
            shadow.signal("node-" + node, fault("gpu-0", 13, NodeScenario.START.plusSeconds(node)));
        }

        assertThat(shadow.snapshot(Integer.MAX_VALUE).differences()).hasSize(ShadowPolicy.KEPT);
        assertThat(shadow.ofNode("node-0", 9)).isEmpty();
        assertThat(shadow.ofNode("node-" + (ShadowPolicy.KEPT + 4), 9)).isNotEmpty();
    }
}
