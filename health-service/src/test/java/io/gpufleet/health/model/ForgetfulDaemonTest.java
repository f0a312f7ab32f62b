package io.gpufleet.health.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.model.HealthSignal.Command;
import io.gpufleet.health.model.HealthSignal.DaemonIncarnation;
import io.gpufleet.health.model.device.DeviceHealth;
import io.gpufleet.health.model.fault.Episode;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.fault.RecoveryAction;
import io.gpufleet.health.model.policy.TestPolicies;
import io.gpufleet.model.fault.FaultKind;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Faults of a daemon that loses its state directory without a boot of its node. */
class ForgetfulDaemonTest {
    private static final FaultCode DRIVER = FaultCode.of(FaultKind.DRIVER);

    private final NodeScenario scenario = new NodeScenario(TestPolicies.standard()).announced("gpu-0", "gpu-1");
    private long epoch = NodeScenario.INCARNATION.epoch();

    /** The daemon restarts in the same boot, with its state directory. */
    private NodeScenario restart() {
        epoch++;
        return scenario.advance(Duration.ofMinutes(1))
                .withIncarnation(new DaemonIncarnation(NodeScenario.INCARNATION.id(), epoch, false));
    }

    /** It restarts without it, and lists what it knows: nothing. */
    private NodeScenario restartForgetful() {
        return restart().announced("gpu-0", "gpu-1").openSince(epoch, Map.of("gpu-0", true, "gpu-1", true));
    }

    @Test
    void faultThatTheDaemonForgotIsNotProvenGone() {
        scenario.xid("gpu-0", 79);

        restartForgetful();

        assertThat(scenario.health("gpu-0").trusted()).isFalse();
        assertThat(scenario.verdict().health().reason()).isEqualTo("Xid79");
    }

    @Test
    void forgottenFaultStaysOverLaterListsAndRestarts() {
        scenario.xid("gpu-0", 79);
        restartForgetful();
        long since = epoch;

        scenario.openSince(since, Map.of());
        restart().openSince(since, Map.of(), NodeScenario.openXid("gpu-1", 48));

        assertThat(scenario.health("gpu-0").trusted()).isFalse();
        assertThat(scenario.health("gpu-1").trusted()).isFalse();
    }

    @Test
    void faultThatTheDaemonKnewEndsWhenItIsListedNoMore() {
        restartForgetful().xid("gpu-0", 79);
        long since = epoch;

        restart().openSince(since, Map.of());

        assertThat(scenario.verdict().trusted()).isTrue();
    }

    @Test
    void faultThatTheForgetfulDaemonObservesAgainIsTheSameAndEndsWithItsProof() {
        scenario.xid("gpu-0", 79);
        restartForgetful().xid("gpu-0", 79);
        assertThat(scenario.state().device("gpu-0").orElseThrow().episodes()).hasSize(1);

        scenario.openSince(epoch, Map.of());

        assertThat(scenario.verdict().trusted()).isTrue();
    }

    @Test
    void listOfAFormerReleaseKnowsEveryFault() {
        scenario.xid("gpu-0", 79);

        restart().open();

        assertThat(scenario.verdict().trusted()).isTrue();
    }

    @Test
    void forgottenFaultEndsByBootAndByOperator() {
        scenario.xid("gpu-0", 79).xid("gpu-1", 48);
        restartForgetful();

        scenario.command(Command.CLEAR, "gpu-1");
        assertThat(scenario.health("gpu-1").trusted()).isTrue();
        assertThat(scenario.health("gpu-0").trusted()).isFalse();
        scenario.withIncarnation(new DaemonIncarnation("boot-2", epoch + 1, false))
                .announced("gpu-0", "gpu-1");

        assertThat(scenario.health("gpu-0")).isInstanceOf(DeviceHealth.Healthy.class);
    }

    @Test
    void faultIsMarkedAsForgottenUntilItIsObservedAgain() {
        scenario.xid("gpu-0", 79);
        restartForgetful();
        assertThat(forgotten()).isTrue();

        scenario.openSince(epoch, Map.of());
        assertThat(scenario.results().getLast().events()).as("a second list").isEmpty();

        scenario.xid("gpu-0", 79);
        assertThat(forgotten()).isFalse();
    }

    private boolean forgotten() {
        return scenario.state().allEpisodes().allMatch(Episode::forgotten);
    }

    /** Nobody can clear a fault of the node, and a device works only with a driver. */
    @Test
    void forgottenFaultOfTheDriverEndsAsSoonAsADeviceIsOffered() {
        scenario.fault("", DRIVER, RecoveryAction.NONE)
                .advance(Duration.ofHours(1))
                .tick();

        restart().openSince(epoch, Map.of());
        assertThat(scenario.state().episodes()).containsKey(DRIVER);
        scenario.openSince(epoch, Map.of("gpu-0", false));
        assertThat(scenario.state().episodes()).containsKey(DRIVER);
        scenario.openSince(epoch, Map.of("gpu-0", false, "gpu-1", true));

        assertThat(scenario.state().episodes()).isEmpty();
    }
}
