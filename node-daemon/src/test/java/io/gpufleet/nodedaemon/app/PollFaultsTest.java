package io.gpufleet.nodedaemon.app;

import static io.gpufleet.nodedaemon.model.device.GpuSampleBuilder.healthyGpu;
import static io.gpufleet.nodedaemon.model.device.TestGpus.scanOf;
import static io.gpufleet.nodedaemon.model.device.TestGpus.uuid;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.model.fault.FaultKind;
import io.gpufleet.nodedaemon.model.device.GpuSampleBuilder;
import io.gpufleet.nodedaemon.model.device.HealthReadings.FabricState;
import io.gpufleet.nodedaemon.model.device.Reading.Known;
import io.gpufleet.nodedaemon.model.device.RecoveryAction;
import io.gpufleet.nodedaemon.model.fault.FaultCode;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Faults that polls detect, one by one, on a node of one GPU; most withdraw nothing and are left to the health-service. */
class PollFaultsTest {
    static Stream<Arguments> whatPollsFind() {
        return Stream.of(
                Arguments.of(FaultKind.ROW_REMAP, healthyGpu(0).rowRemap(true, false, false)),
                Arguments.of(FaultKind.ROW_REMAP, healthyGpu(0).rowRemap(false, true, false)),
                Arguments.of(FaultKind.ROW_REMAP, healthyGpu(0).rowRemap(false, false, true)),
                Arguments.of(FaultKind.ECC_UNCORRECTABLE, healthyGpu(0).uncorrectable(1)),
                Arguments.of(FaultKind.NVLINK, healthyGpu(0).linksDown(1)),
                Arguments.of(FaultKind.NVLINK, healthyGpu(0).linkErrors(1)),
                Arguments.of(FaultKind.PCIE, healthyGpu(0).link(5, 8).utilization(90)),
                Arguments.of(FaultKind.PCIE, healthyGpu(0).replays(new Known<>(1000L))),
                Arguments.of(FaultKind.THROTTLE, healthyGpu(0).clockReasons(new Known<>(0x8L))),
                Arguments.of(FaultKind.THROTTLE, healthyGpu(0).clockReasons(new Known<>(0x48L))),
                Arguments.of(FaultKind.THROTTLE, healthyGpu(0).clockReasons(new Known<>(0x88L))),
                Arguments.of(FaultKind.INFOROM, healthyGpu(0).infoRom(false)),
                Arguments.of(FaultKind.POWER_UNREADABLE, healthyGpu(0).powerReadable(false)),
                Arguments.of(FaultKind.FABRIC, healthyGpu(0).fabric(new Known<>(FabricState.FAILED))),
                Arguments.of(FaultKind.FABRIC, healthyGpu(0).fabric(new Known<>(FabricState.IN_PROGRESS))));
    }

    @ParameterizedTest
    @MethodSource("whatPollsFind")
    void faultIsReportedOnceWithoutWithdrawalAndCleared(FaultKind kind, GpuSampleBuilder found) {
        var node = new TestNode(scanOf(1)).polls(healthyGpu(0));

        // When it lasts longer than a fabric registration may take
        for (int i = 0; i < 36; i++) {
            node.advance(10).polls(found);
            assertThat(node.healthy()).containsExactly(uuid(0));
        }

        // Then
        assertThat(node.published(NodeFact.FaultObserved.class))
                .singleElement()
                .matches(fact -> fact.fault().key().fault().equals(new FaultCode.WithoutCode(kind)));

        // When it is resolved, and stays so
        for (int i = 0; i < 40; i++) {
            node.advance(10).polls(healthyGpu(0));
        }
        assertThat(node.open()).isEmpty();
        assertThat(node.published(NodeFact.FaultCleared.class)).hasSize(1);
    }

    @ParameterizedTest
    @MethodSource("whatComesAndGoesByItself")
    void shortDisturbanceIsNoFault(GpuSampleBuilder found, int polls) {
        var node = new TestNode(scanOf(1), PluginSettings.DEFAULT, Duration.ofSeconds(10));

        for (int i = 0; i < polls; i++) {
            node.polls(found).advance(10);
        }
        node.polls(healthyGpu(0));

        assertThat(node.published(NodeFact.FaultObserved.class)).isEmpty();
        assertThat(node.healthy()).containsExactly(uuid(0));
    }

    static Stream<Arguments> whatComesAndGoesByItself() {
        return Stream.of(
                // NVLinks are trained, the fabric manager comes up.
                Arguments.of(healthyGpu(0).linksDown(18).fabric(new Known<>(FabricState.NOT_STARTED)), 28),
                Arguments.of(healthyGpu(0).linksDown(18).fabric(new Known<>(FabricState.IN_PROGRESS)), 28),
                Arguments.of(healthyGpu(0).linksDown(18), 28),
                // Two short periods of power brake, heat, slow link or unreadable sensor.
                Arguments.of(healthyGpu(0).clockReasons(new Known<>(0x88L)), 1),
                Arguments.of(healthyGpu(0).clockReasons(new Known<>(0x88L)), 2),
                Arguments.of(healthyGpu(0).clockReasons(new Known<>(0x48L)), 2),
                Arguments.of(healthyGpu(0).link(3, 16).utilization(90), 2),
                Arguments.of(healthyGpu(0).powerReadable(false), 2),
                // An idle GPU saves power.
                Arguments.of(healthyGpu(0).link(1, 16).utilization(0).clockReasons(new Known<>(0x1L)), 100));
    }

    @Test
    void idleImexDomainIsReportedOnceWithoutWithdrawal() {
        var node = new TestNode(scanOf(1));

        for (int hour = 0; hour < 48; hour++) {
            node.polls(healthyGpu(0).recoveryAction(RecoveryAction.RECOVER_IMEX_DOMAIN))
                    .advance(3600);
            assertThat(node.healthy()).containsExactly(uuid(0));
        }

        assertThat(node.published(NodeFact.FaultObserved.class)).hasSize(1);
    }
}
