package io.gpufleet.nodedaemon.model.fault.rules;

import static io.gpufleet.nodedaemon.model.device.TestGpus.second;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.model.fault.FaultKind;
import io.gpufleet.nodedaemon.model.device.GpuSampleBuilder;
import io.gpufleet.nodedaemon.model.device.HealthReadings;
import io.gpufleet.nodedaemon.model.device.HealthReadings.FabricState;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.Reading.Known;
import io.gpufleet.nodedaemon.model.device.Reading.Unavailable;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PollHistoryTest {
    private PollHistory history = PollHistory.empty(0);

    private FaultRuleResult poll(FaultKind kind, double at, GpuSampleBuilder sample) {
        PollHistory.PollEvaluation judged = history.evaluate(sample.build(), second(at));
        history = judged.next();
        return Objects.requireNonNull(judged.results().get(kind));
    }

    private static GpuSampleBuilder well() {
        return GpuSampleBuilder.healthyGpu(0);
    }

    @Test
    void healthyGpuHasNoFault() {
        for (int at = 0; at <= 120; at += 10) {
            assertThat(history.evaluate(well().build(), second(at)).results().values())
                    .noneMatch(result ->
                            result instanceof FaultRuleResult.Firing || result instanceof FaultRuleResult.Occurred);
            history = history.evaluate(well().build(), second(at)).next();
        }
        assertThat(history.evaluate(well().build(), second(130)).results().values())
                .allMatch(FaultRuleResult.Inactive.class::isInstance);
    }

    @Test
    void unreadableGpuHasNoData() {
        var mute = well().with(HealthReadings.unavailable("not read"))
                .memory(new Unavailable<>("NOT_SUPPORTED"))
                .replays(new Unavailable<>("NOT_SUPPORTED"))
                .clockReasons(new Unavailable<>("NOT_SUPPORTED"));

        assertThat(history.evaluate(mute.build(), second(0)).results().values())
                .allMatch(FaultRuleResult.NoData.class::isInstance);
    }

    @Test
    void pendingOrFailedRemapFiresUntilResolved() {
        assertThat(poll(FaultKind.ROW_REMAP, 0, well().rowRemap(true, false, false)))
                .isInstanceOf(FaultRuleResult.Firing.class);
        assertThat(poll(FaultKind.ROW_REMAP, 10, well().rowRemap(false, true, false)))
                .isInstanceOf(FaultRuleResult.Firing.class);
        assertThat(poll(FaultKind.ROW_REMAP, 20, well().rowRemap(false, false, true)))
                .isInstanceOf(FaultRuleResult.Firing.class);
        assertThat(poll(FaultKind.ROW_REMAP, 30, well())).isInstanceOf(FaultRuleResult.Inactive.class);
    }

    @Test
    void eachRiseOfUncorrectableErrorsIsAnEvent() {
        assertThat(poll(FaultKind.ECC_UNCORRECTABLE, 0, well().uncorrectable(5)))
                .isInstanceOf(FaultRuleResult.Inconclusive.class);
        assertThat(poll(FaultKind.ECC_UNCORRECTABLE, 10, well().uncorrectable(6)))
                .isEqualTo(new FaultRuleResult.Occurred("uncorrectable ECC errors rose from 5 to 6"));
        assertThat(poll(FaultKind.ECC_UNCORRECTABLE, 20, well().uncorrectable(6)))
                .isInstanceOf(FaultRuleResult.Inactive.class);
        assertThat(poll(FaultKind.ECC_UNCORRECTABLE, 30, well().uncorrectable(0)))
                .isInstanceOf(FaultRuleResult.Inactive.class);
        assertThat(poll(FaultKind.ECC_UNCORRECTABLE, 40, well().uncorrectable(1)))
                .isInstanceOf(FaultRuleResult.Occurred.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"NOT_STARTED", "IN_PROGRESS", "FAILED"})
    void linksDownBeforeTheFabricIsUpAreNoFault(FabricState fabric) {
        assertThat(poll(FaultKind.NVLINK, 0, well().linksDown(18).fabric(new Known<>(fabric))))
                .isInstanceOf(FaultRuleResult.Inconclusive.class);
        assertThat(poll(FaultKind.NVLINK, 10, well().linksDown(18)))
                .isEqualTo(new FaultRuleResult.Firing("18 NVLinks are down"));
    }

    @Test
    void linksDownRightAfterBootAreNoFault() {
        history = PollHistory.empty(second(300).nanos());
        var noFabric = well().linksDown(1).fabric(new Unavailable<>("NOT_SUPPORTED"));

        assertThat(poll(FaultKind.NVLINK, 299, noFabric)).isInstanceOf(FaultRuleResult.Inconclusive.class);
        assertThat(poll(FaultKind.NVLINK, 300, noFabric)).isInstanceOf(FaultRuleResult.Firing.class);
        // The error counter must not rise for a minute either.
        assertThat(poll(FaultKind.NVLINK, 359, well())).isInstanceOf(FaultRuleResult.Inactive.class);
    }

    @Test
    void linkErrorsFireUntilQuietForAMinute() {
        assertThat(poll(FaultKind.NVLINK, 0, well().linkErrors(3))).isInstanceOf(FaultRuleResult.Inconclusive.class);
        assertThat(poll(FaultKind.NVLINK, 10, well().linkErrors(4))).isInstanceOf(FaultRuleResult.Firing.class);
        assertThat(poll(FaultKind.NVLINK, 60, well().linkErrors(4))).isInstanceOf(FaultRuleResult.Firing.class);
        assertThat(poll(FaultKind.NVLINK, 71, well().linkErrors(4))).isInstanceOf(FaultRuleResult.Inactive.class);
    }

    @Test
    void crcErrorsAreAFaultAboveTheirRateOnly() {
        assertThat(poll(FaultKind.NVLINK, 0, well().crcErrors(10))).isInstanceOf(FaultRuleResult.Inconclusive.class);
        assertThat(poll(FaultKind.NVLINK, 60, well().crcErrors(6010))).isInstanceOf(FaultRuleResult.Inactive.class);
        assertThat(poll(FaultKind.NVLINK, 65, well().crcErrors(6010))).isInstanceOf(FaultRuleResult.Inactive.class);
        assertThat(poll(FaultKind.NVLINK, 70, well().crcErrors(12_018)))
                .isEqualTo(new FaultRuleResult.Firing(
                        "NVLink CRC errors rose by 12008 in 70 s, up to 6000 a minute are normal"));
    }

    @Test
    void unhealthyFabricIsAFaultAndOneThatRecoversIsNot() {
        assertThat(poll(FaultKind.FABRIC, 0, well().fabric(new Known<>(FabricState.ROUTE_UNHEALTHY))))
                .isEqualTo(new FaultRuleResult.Firing("a route of the fabric does not work"));
        assertThat(poll(FaultKind.FABRIC, 10, well().fabric(new Known<>(FabricState.MISCONFIGURED))))
                .isInstanceOf(FaultRuleResult.Firing.class);
        assertThat(poll(FaultKind.FABRIC, 20, well().fabric(new Known<>(FabricState.RECOVERING))))
                .isInstanceOf(FaultRuleResult.Inconclusive.class);
        assertThat(poll(FaultKind.FABRIC, 320, well().fabric(new Known<>(FabricState.RECOVERING))))
                .isEqualTo(new FaultRuleResult.Firing("the fabric does not recover"));
        assertThat(poll(FaultKind.NVLINK, 320, well().linksDown(2).fabric(new Known<>(FabricState.BANDWIDTH_DEGRADED))))
                .isEqualTo(new FaultRuleResult.Firing("2 NVLinks are down"));
    }

    @Test
    void failedOrEndlessFabricRegistrationIsAFault() {
        assertThat(poll(FaultKind.FABRIC, 0, well().fabric(new Known<>(FabricState.FAILED))))
                .isInstanceOf(FaultRuleResult.Firing.class);
        assertThat(poll(FaultKind.FABRIC, 10, well().fabric(new Known<>(FabricState.IN_PROGRESS))))
                .isInstanceOf(FaultRuleResult.Inconclusive.class);
        assertThat(poll(FaultKind.FABRIC, 309, well().fabric(new Known<>(FabricState.IN_PROGRESS))))
                .isInstanceOf(FaultRuleResult.Inconclusive.class);
        assertThat(poll(FaultKind.FABRIC, 310, well().fabric(new Known<>(FabricState.IN_PROGRESS))))
                .isInstanceOf(FaultRuleResult.Firing.class);
        assertThat(poll(FaultKind.FABRIC, 320, well())).isEqualTo(new FaultRuleResult.Inactive("the fabric is up"));
    }

    @Test
    void slowLinkOfAnIdleGpuIsNoFault() {
        for (int at = 0; at < 600; at += 10) {
            assertThat(poll(FaultKind.PCIE, at, well().link(1, 16).utilization(0)))
                    .isNotInstanceOf(FaultRuleResult.Firing.class);
        }
    }

    @Test
    void slowLinkOfABusyGpuIsAFaultUntilSeenFasterUnderLoad() {
        poll(FaultKind.PCIE, 0, well().link(5, 8).utilization(90));
        assertThat(poll(FaultKind.PCIE, 10, well().link(5, 8).utilization(90)))
                .isInstanceOf(FaultRuleResult.Inconclusive.class);
        assertThat(poll(FaultKind.PCIE, 20, well().link(5, 8).utilization(90)))
                .isEqualTo(new FaultRuleResult.Firing(
                        "the PCIe link of a busy GPU runs at gen 5 x8, it supports gen 5 x16"));
        assertThat(poll(FaultKind.PCIE, 90, well().link(1, 8).utilization(0)))
                .isInstanceOf(FaultRuleResult.Inconclusive.class);
        assertThat(poll(FaultKind.PCIE, 100, well())).isInstanceOf(FaultRuleResult.Inactive.class);
    }

    @Test
    void replaysAreAFaultAboveTheLimitOfTheLink() {
        // 31 a minute are normal for 16 lanes of generation 5.
        poll(FaultKind.PCIE, 0, well().replays(new Known<>(100L)));
        assertThat(poll(FaultKind.PCIE, 30, well().replays(new Known<>(131L))))
                .isInstanceOf(FaultRuleResult.Inconclusive.class);
        assertThat(poll(FaultKind.PCIE, 40, well().replays(new Known<>(132L))))
                .isInstanceOf(FaultRuleResult.Firing.class);
        assertThat(poll(FaultKind.PCIE, 95, well().replays(new Known<>(140L))))
                .isInstanceOf(FaultRuleResult.Inactive.class);
    }

    @ParameterizedTest
    @ValueSource(longs = {0x8, 0x40, 0x80})
    void shortThrottlingIsNoFault(long reason) {
        var throttled = well().clockReasons(new Known<>(reason));

        assertThat(poll(FaultKind.THROTTLE, 0, throttled)).isInstanceOf(FaultRuleResult.Inconclusive.class);
        assertThat(poll(FaultKind.THROTTLE, 1, throttled)).isInstanceOf(FaultRuleResult.Inconclusive.class);
        assertThat(poll(FaultKind.THROTTLE, 2, throttled)).isInstanceOf(FaultRuleResult.Inconclusive.class);
        assertThat(poll(FaultKind.THROTTLE, 20, throttled)).isInstanceOf(FaultRuleResult.Firing.class);
        assertThat(poll(FaultKind.THROTTLE, 30, well())).isInstanceOf(FaultRuleResult.Inactive.class);
        assertThat(poll(FaultKind.THROTTLE, 40, throttled)).isInstanceOf(FaultRuleResult.Inconclusive.class);
    }

    @Test
    void powerCapIsNoThrottling() {
        for (int at = 0; at < 100; at += 10) {
            assertThat(poll(FaultKind.THROTTLE, at, well().clockReasons(new Known<>(0x4L | 0x20L))))
                    .isInstanceOf(FaultRuleResult.Inactive.class);
        }
    }

    @Test
    void lastingUnreadablePowerIsAFault() {
        var failed = well().powerReadable(false);

        assertThat(poll(FaultKind.POWER_UNREADABLE, 0, failed)).isInstanceOf(FaultRuleResult.Inconclusive.class);
        assertThat(poll(FaultKind.POWER_UNREADABLE, 10, failed)).isInstanceOf(FaultRuleResult.Inconclusive.class);
        assertThat(poll(FaultKind.POWER_UNREADABLE, 20, failed)).isInstanceOf(FaultRuleResult.Firing.class);
        assertThat(poll(FaultKind.POWER_UNREADABLE, 30, well())).isInstanceOf(FaultRuleResult.Inactive.class);
    }

    @Test
    void corruptedInfoRomIsAFault() {
        assertThat(poll(FaultKind.INFOROM, 0, well().infoRom(false))).isInstanceOf(FaultRuleResult.Firing.class);
        assertThat(poll(FaultKind.INFOROM, 10, well().infoRom(true))).isInstanceOf(FaultRuleResult.Inactive.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"UNKNOWN", "GPU_IS_LOST", "RESET_REQUIRED", "CODE_77"})
    void unreadableMemoryIsAFault(String reason) {
        assertThat(poll(FaultKind.MEMORY_UNREADABLE, 0, well().memory(new Unavailable<>(reason))))
                .isInstanceOf(FaultRuleResult.Firing.class);
        assertThat(poll(FaultKind.MEMORY_UNREADABLE, 10, well())).isInstanceOf(FaultRuleResult.Inactive.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"NOT_SUPPORTED", "NO_PERMISSION", "LIB_RM_VERSION_MISMATCH", "not read"})
    void unsupportedMemoryQueryIsNoFault(String reason) {
        Reading<Long> memory = new Unavailable<>(reason);

        assertThat(poll(FaultKind.MEMORY_UNREADABLE, 0, well().memory(memory)))
                .isInstanceOf(FaultRuleResult.NoData.class);
    }
}
