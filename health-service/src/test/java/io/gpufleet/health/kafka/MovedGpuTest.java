package io.gpufleet.health.kafka;

import static io.gpufleet.health.kafka.TwoMachines.HARDWARE;
import static io.gpufleet.health.kafka.TwoMachines.NEEDS_BOOT;
import static io.gpufleet.health.kafka.TwoMachines.NEEDS_RESET;
import static io.gpufleet.health.kafka.TwoMachines.NEW;
import static io.gpufleet.health.kafka.TwoMachines.OLD;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.Verdict;
import io.gpufleet.health.model.device.DeviceHealth;
import io.gpufleet.health.model.fault.Episode;
import io.gpufleet.health.model.fault.RecommendedAction;
import io.gpufleet.health.model.fault.RepairHistory;
import io.gpufleet.proto.signal.v1.Command;
import io.gpufleet.testbed.testkit.LogLines;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is known of a GPU goes with it to another machine; a moved GPU booted, and a boot proves nothing about its hardware. */
class MovedGpuTest {
    private TwoMachines machines = new TwoMachines(Duration.ZERO);

    @Test
    void gpuWithAHardwareFaultIsNotTrustedOnAnotherNode() {
        machines.observed(OLD, 1, HARDWARE);

        machines.announced(OLD, 2, "gpu-1@slot-1");
        machines.announced(NEW, 2, "gpu-8@slot-8", "gpu-0@slot-9");

        assertThat(machines.health(NEW)).isInstanceOf(DeviceHealth.Unhealthy.class);
        assertThat(Verdict.of(machines.state(NEW)).trusted()).isFalse();
        assertThat(Verdict.of(machines.state(NEW)).health().reason()).isEqualTo("Xid54");
        assertThat(machines.gpu(OLD)).isEmpty();
        machines.isUntouched(OLD);
    }

    @Test
    void faultIsRememberedWhenAnotherGpuTookItsSlotFirst() {
        machines.observed(OLD, 1, HARDWARE);
        machines.cleared(OLD, 2, HARDWARE, "new boot id " + TwoMachines.boot(OLD, 2));
        machines.announced(OLD, 2, "gpu-7@slot-0", "gpu-1@slot-1");
        machines.noOpenFaults(OLD, 2);
        machines.isUntouched(OLD);

        machines.announced(NEW, 2, "gpu-8@slot-8", "gpu-0@slot-9");

        assertThat(machines.health(NEW)).isInstanceOf(DeviceHealth.Unhealthy.class);
        assertThat(machines.gpu(OLD)).isEmpty();
    }

    @Test
    void faultFollowsWhenTheNewNodeIsReadFirst() {
        machines.observed(OLD, 1, HARDWARE);

        machines.announced(NEW, 2, "gpu-8@slot-8", "gpu-0@slot-9");
        assertThat(machines.health(NEW)).isInstanceOf(DeviceHealth.Unhealthy.class);
        machines.announced(OLD, 2, "gpu-7@slot-0", "gpu-1@slot-1");

        assertThat(machines.health(NEW)).isInstanceOf(DeviceHealth.Unhealthy.class);
        assertThat(machines.gpu(OLD)).isEmpty();
        machines.isUntouched(OLD);
    }

    @Test
    void faultFollowsFromAMachineThatNeverReportsAgain() {
        machines.observed(OLD, 1, HARDWARE);
        machines.deleted(OLD);

        machines.announced(NEW, 2, "gpu-8@slot-8", "gpu-0@slot-9");

        assertThat(machines.health(NEW)).isInstanceOf(DeviceHealth.Unhealthy.class);
        assertThat(machines.gpu(OLD)).isEmpty();
    }

    @Test
    void quarantineFollowsFromAMachineThatNeverReportsAgain() {
        machines.issued(Command.COMMAND_QUARANTINE, OLD, "gpu-0");
        machines.deleted(OLD);

        machines.announced(NEW, 2, "gpu-8@slot-8", "gpu-0@slot-9");

        assertThat(machines.health(NEW)).isInstanceOf(DeviceHealth.Quarantined.class);
        assertThat(machines.gpu(OLD)).isEmpty();
    }

    @Test
    void uuidThatTwoLivingNodesAnnounceIsOutOnBoth() {
        machines.observed(OLD, 1, HARDWARE);

        machines.announced(NEW, 2, "gpu-8@slot-8", "gpu-0@slot-9");
        machines.announced(OLD, 1, "gpu-0@slot-0", "gpu-1@slot-1");
        machines.announced(NEW, 2, "gpu-8@slot-8", "gpu-0@slot-9");

        assertThat(machines.health(OLD)).isInstanceOf(DeviceHealth.Unhealthy.class);
        assertThat(machines.health(NEW)).isInstanceOf(DeviceHealth.Unhealthy.class);
    }

    @Test
    void uuidThatTwoLivingNodesAnnounceIsOneLine() {
        machines.observed(OLD, 1, HARDWARE);

        try (var lines = LogLines.of(FactWarnings.class.getName())) {
            machines.announced(NEW, 2, "gpu-8@slot-8", "gpu-0@slot-9");
            assertThat(lines.all()).as("a move that is read in another order").isEmpty();
            machines.announced(OLD, 1, "gpu-0@slot-0", "gpu-1@slot-1");
            machines.announced(NEW, 2, "gpu-8@slot-8", "gpu-0@slot-9");

            assertThat(lines.all())
                    .singleElement()
                    .satisfies(line -> assertThat(line)
                            .startsWith("GPU is announced by two nodes")
                            .endsWith(" device=gpu-0 node=node-1 other=node-2"));
        }
    }

    @Test
    void clearedOnItsNewNodeItIsTrustedThereWhateverTheOldOneRemembers() {
        machines.observed(OLD, 1, HARDWARE);
        machines.announced(NEW, 2, "gpu-8@slot-8", "gpu-0@slot-9");

        machines.issued(Command.COMMAND_CLEAR, NEW, "gpu-0");
        machines.announced(NEW, 2, "gpu-8@slot-8", "gpu-0@slot-9");

        assertThat(machines.health(NEW)).isInstanceOf(DeviceHealth.Healthy.class);
    }

    @Test
    void provenByTheDaemonOfItsNewNodeItIsTrustedThere() {
        machines.observed(OLD, 1, HARDWARE);
        machines.announced(OLD, 2, "gpu-1@slot-1");
        machines.announced(NEW, 2, "gpu-8@slot-8", "gpu-0@slot-9");

        machines.observed(NEW, 2, HARDWARE);
        machines.cleared(NEW, 2, HARDWARE, "recovery action NONE, quiet for PT5M");

        assertThat(machines.health(NEW)).isInstanceOf(DeviceHealth.Healthy.class);
    }

    @ParameterizedTest
    @ValueSource(ints = {NEEDS_BOOT, NEEDS_RESET, 63})
    void faultThatABootRepairsStaysBehind(int xid) {
        machines.observed(OLD, 1, xid);

        machines.announced(OLD, 2, "gpu-1@slot-1");
        machines.announced(NEW, 2, "gpu-8@slot-8", "gpu-0@slot-9");

        machines.isUntouched(NEW);
        assertThat(machines.gpu(NEW).orElseThrow().episodes()).isEmpty();
    }

    @Test
    void moveCountsAsTheBootThatItIs() {
        machines.observed(OLD, 1, NEEDS_BOOT);

        machines.announced(NEW, 2, "gpu-8@slot-8", "gpu-0@slot-9");

        assertThat(machines.gpu(NEW).orElseThrow().history().attempts()).containsOnlyKeys(RecommendedAction.REBOOT);
        assertThat(machines.gpu(NEW).orElseThrow().history().attempts().values())
                .extracting(RepairHistory.Attempts::count)
                .containsExactly(1);
    }

    @Test
    void bootThatTheOldNodeCountedIsNotCountedTwice() {
        machines.observed(OLD, 1, NEEDS_BOOT);

        machines.announced(OLD, 2, "gpu-1@slot-1");
        machines.announced(NEW, 2, "gpu-8@slot-8", "gpu-0@slot-9");

        assertThat(machines.gpu(NEW).orElseThrow().history().attempts().values())
                .extracting(RepairHistory.Attempts::count)
                .containsExactly(1);
    }

    @Test
    void faultThatCameBackAfterEveryAttemptFollows() {
        for (int boot = 1; boot <= 4; boot++) {
            machines.announced(OLD, boot, "gpu-0@slot-0", "gpu-1@slot-1");
            machines.observed(OLD, boot, NEEDS_BOOT);
        }
        assertThat(machines.health(OLD).recommendedAction()).isEqualTo(RecommendedAction.REPLACE);

        machines.announced(OLD, 5, "gpu-7@slot-0", "gpu-1@slot-1");
        machines.announced(NEW, 2, "gpu-8@slot-8", "gpu-0@slot-9");

        assertThat(machines.health(NEW)).isInstanceOf(DeviceHealth.Unhealthy.class);
        assertThat(machines.health(NEW).recommendedAction()).isEqualTo(RecommendedAction.REPLACE);
        machines.isUntouched(OLD);
    }

    @Test
    void recoveryDwellFollows() {
        machines = new TwoMachines(Duration.ofMinutes(30));
        machines.observed(OLD, 1, NEEDS_RESET);
        machines.cleared(OLD, 1, NEEDS_RESET, "quiet");

        machines.announced(OLD, 2, "gpu-7@slot-0", "gpu-1@slot-1");
        machines.announced(NEW, 2, "gpu-8@slot-8", "gpu-0@slot-9");

        assertThat(machines.health(NEW)).isInstanceOf(DeviceHealth.Recovering.class);
        machines.advance(Duration.ofMinutes(30));
        machines.tick(NEW);
        assertThat(machines.health(NEW)).isInstanceOf(DeviceHealth.Healthy.class);
    }

    @Test
    void faultFollowsThroughARestartOfTheService() {
        machines.observed(OLD, 1, HARDWARE);
        machines.announced(OLD, 2, "gpu-7@slot-0", "gpu-1@slot-1");

        machines.restart();
        machines.announced(NEW, 2, "gpu-8@slot-8", "gpu-0@slot-9");

        assertThat(machines.health(NEW)).isInstanceOf(DeviceHealth.Unhealthy.class);
    }

    @Test
    void anotherMachineUnderTheOldNameKeepsTheFaultOfTheGpu() {
        machines.observed(OLD, 1, HARDWARE);

        machines.anotherMachine(OLD, "gpu-9@slot-0");
        machines.isUntouched(OLD);
        machines.announced(NEW, 2, "gpu-8@slot-8", "gpu-0@slot-9");

        assertThat(machines.health(NEW)).isInstanceOf(DeviceHealth.Unhealthy.class);
    }

    @Test
    void gpuThatNeverCameBackIsForgottenAfterThirtyDays() {
        machines.observed(OLD, 1, HARDWARE);
        machines.announced(OLD, 2, "gpu-7@slot-0", "gpu-1@slot-1");
        assertThat(machines.gpu(OLD)).isPresent();

        machines.advance(NodeState.FORGET_AFTER);
        machines.announced(OLD, 2, "gpu-7@slot-0", "gpu-1@slot-1");

        assertThat(machines.gpu(OLD)).isEmpty();
    }

    @Test
    void faultOfAGpuThatIsGoneIsForgottenByCommand() {
        machines.observed(OLD, 1, HARDWARE);
        machines.announced(OLD, 2, "gpu-7@slot-0", "gpu-1@slot-1");

        machines.issued(Command.COMMAND_CLEAR, OLD, "gpu-0");
        machines.announced(NEW, 2, "gpu-8@slot-8", "gpu-0@slot-9");

        machines.isUntouched(NEW);
    }

    @Test
    void gpuThatComesBackToItsOldNodeHasItsFaultStill() {
        machines.observed(OLD, 1, HARDWARE);
        machines.announced(OLD, 2, "gpu-7@slot-0", "gpu-1@slot-1");

        machines.announced(OLD, 3, "gpu-0@slot-0", "gpu-1@slot-1");

        assertThat(machines.health(OLD)).isInstanceOf(DeviceHealth.Unhealthy.class);
        assertThat(machines.state(OLD).tainted()).isTrue();
    }

    @Test
    void faultOfAMovedGpuIsOneCauseWithTheTimeAndEventOfItsFirstObservation() {
        machines.observed(OLD, 1, HARDWARE);
        Episode there =
                machines.gpu(OLD).orElseThrow().episodes().sequencedValues().getFirst();
        machines.advance(Duration.ofHours(3));

        machines.announced(OLD, 2, "gpu-1@slot-1");
        machines.announced(NEW, 2, "gpu-8@slot-8", "gpu-0@slot-9");

        assertThat(machines.gpu(NEW).orElseThrow().episodes().values()).containsExactly(there);
        assertThat(Verdict.of(machines.state(NEW)).evidence()).containsExactly(there.eventId());
    }
}
