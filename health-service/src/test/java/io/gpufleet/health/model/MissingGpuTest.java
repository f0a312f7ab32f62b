package io.gpufleet.health.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.model.HealthSignal.Command;
import io.gpufleet.health.model.HealthSignal.DaemonIncarnation;
import io.gpufleet.health.model.HealthSignal.DaemonKnowledge;
import io.gpufleet.health.model.device.Device;
import io.gpufleet.health.model.device.DeviceHealth;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.fault.RecoveryAction;
import io.gpufleet.health.model.nodepatch.DesiredNode;
import io.gpufleet.health.model.policy.TestPolicies;
import io.gpufleet.model.fault.FaultKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Fewer GPUs than the node had are a fault that outlives boots, also where the daemon forgot that it had them. */
class MissingGpuTest {
    private static final DaemonKnowledge LOST_ITS_STATE =
            new DaemonKnowledge(NodeScenario.START.plus(Duration.ofDays(1)), true);

    private final NodeScenario scenario = new NodeScenario(TestPolicies.standard()).announced("gpu-0", "gpu-1");

    private void boot(DaemonKnowledge knowledge, String... uuids) {
        scenario.withIncarnation(new DaemonIncarnation("boot-2", 2_000, false))
                .with(knowledge)
                .announced(uuids);
    }

    @Test
    void gpuThatAForgetfulDaemonDoesNotListIsLost() {
        boot(LOST_ITS_STATE, "gpu-1");

        assertThat(scenario.health("gpu-0")).isInstanceOf(DeviceHealth.Lost.class);
        DesiredNode desired = DesiredNode.of(scenario.verdict());
        assertThat(desired.label()).isEqualTo("degraded");
        assertThat(desired.condition().message()).startsWith("1 GPU out of service: gpu-0");
        assertThat(scenario.verdict().trusted()).as("the other one works").isTrue();
    }

    @Test
    void laterBootsAndAnnouncementsDoNotHideIt() {
        boot(LOST_ITS_STATE, "gpu-1");

        scenario.withIncarnation(new DaemonIncarnation("boot-3", 3_000, false))
                .announced("gpu-1")
                .open();

        assertThat(scenario.health("gpu-0")).isInstanceOf(DeviceHealth.Lost.class);
    }

    @Test
    void gpuThatItsDaemonReportsAsMissingIsLost() {
        boot(NodeScenario.KNOWN, "gpu-1");
        scenario.fault("", FaultCode.of(FaultKind.GPU_MISSING), RecoveryAction.UNSPECIFIED);

        assertThat(scenario.health("gpu-0")).isInstanceOf(DeviceHealth.Lost.class);
    }

    @Test
    void gpuThatAPersonRemovedFromTheDaemonsSetIsNotMissed() {
        boot(NodeScenario.KNOWN, "gpu-1");

        assertThat(scenario.verdict().devices()).isEmpty();
    }

    @Test
    void gpuThatIsBackIsTrusted() {
        boot(LOST_ITS_STATE, "gpu-1");

        scenario.announced("gpu-0", "gpu-1");

        assertThat(scenario.verdict().devices()).isEmpty();
    }

    @Test
    void otherGpuInItsSlotReplacesIt() {
        announcedInSlots(NodeScenario.KNOWN, "gpu-0", "gpu-1", "gpu-2");

        announcedInSlots(LOST_ITS_STATE, "gpu-new", "gpu-1");

        assertThat(scenario.state().devices()).doesNotContainKey("gpu-0");
        assertThat(scenario.health("gpu-2")).isInstanceOf(DeviceHealth.Lost.class);
    }

    private void announcedInSlots(DaemonKnowledge knowledge, String... uuids) {
        var devices = new ArrayList<HealthSignal.AnnouncedDevice>();
        for (int slot = 0; slot < uuids.length; slot++) {
            devices.add(new HealthSignal.AnnouncedDevice(
                    uuids[slot], new Device.Identity("H100", "", "0000:0" + slot), false));
        }
        scenario.handle(new HealthSignal.DevicesAnnounced(
                scenario.nextMetadata(), NodeScenario.INCARNATION, List.copyOf(devices), knowledge));
    }

    @Test
    void driverThatIsAwayProvesNothing() {
        boot(new DaemonKnowledge(LOST_ITS_STATE.knownSince(), false));

        assertThat(scenario.verdict().trusted()).isTrue();
        assertThat(scenario.verdict().devices()).isEmpty();
    }

    @Test
    void allGpusGoneTaintTheNode() {
        boot(LOST_ITS_STATE);

        assertThat(scenario.verdict().trusted()).isFalse();
    }

    @Test
    void operatorClearsAGpuThatWasTakenAway() {
        boot(LOST_ITS_STATE, "gpu-1");

        scenario.command(Command.CLEAR, "gpu-0").announced("gpu-1");

        assertThat(scenario.verdict().devices()).isEmpty();
        assertThat(scenario.state().devices()).containsOnlyKeys("gpu-1");
    }

    @Test
    void otherMachineOfTheSameNameMissesNothing() {
        scenario.withIncarnation(new DaemonIncarnation("boot-9", 10, true))
                .with(LOST_ITS_STATE)
                .announced("gpu-8");

        assertThat(scenario.verdict().devices()).isEmpty();
    }

    /** Whose clock is right, so that its epoch is not lower. */
    @Test
    void machineWithNoneOfTheFormerGpusMissesNothing() {
        boot(LOST_ITS_STATE, "gpu-8");

        assertThat(scenario.verdict().devices()).isEmpty();
        assertThat(scenario.state().devices()).containsOnlyKeys("gpu-8");

        scenario.announced("gpu-8");

        assertThat(scenario.verdict().devices()).isEmpty();
    }

    @Test
    void machineWithNoneOfTheFormerGpusHasNothingOfTheirFaultsWhichGoWithThem() {
        scenario.fault("gpu-0", FaultCode.xid(79), RecoveryAction.NODE_REBOOT);
        assertThat(scenario.verdict().trusted()).isFalse();

        boot(LOST_ITS_STATE, "gpu-8");

        assertThat(scenario.verdict().trusted()).isTrue();
        assertThat(scenario.verdict().devices()).isEmpty();
        assertThat(scenario.state().hardware().isFormer("gpu-0")).isTrue();
    }

    @Test
    void faultThatIsReadBeforeTheAnnouncementOfTheOtherMachineIsItsOwn() {
        scenario.withIncarnation(new DaemonIncarnation("boot-2", 2_000, false)).with(LOST_ITS_STATE);
        scenario.fault("gpu-8", FaultCode.xid(79), RecoveryAction.NODE_REBOOT);

        scenario.announced("gpu-8");

        assertThat(scenario.verdict().devices())
                .extracting(Verdict.DeviceVerdict::uuid)
                .containsExactly("gpu-8");
        assertThat(scenario.state().devices()).containsOnlyKeys("gpu-8");
    }

    @Test
    void laterLossOfAGpuOfTheOtherMachineIsMissed() {
        boot(LOST_ITS_STATE, "gpu-8", "gpu-9");

        scenario.withIncarnation(new DaemonIncarnation("boot-3", 3_000, false))
                .with(new DaemonKnowledge(LOST_ITS_STATE.knownSince().plus(Duration.ofDays(1)), true))
                .announced("gpu-9");

        assertThat(scenario.health("gpu-8")).isInstanceOf(DeviceHealth.Lost.class);
        assertThat(scenario.verdict().devices())
                .extracting(Verdict.DeviceVerdict::uuid)
                .containsExactly("gpu-8");
    }
}
