package io.gpufleet.health.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.health.model.HealthSignal;
import io.gpufleet.health.model.NodeScenario;
import io.gpufleet.health.model.policy.NodeAction;
import io.gpufleet.health.model.policy.TestPolicies;
import io.gpufleet.proto.health.v1.DeviceHealthState;
import io.gpufleet.proto.health.v1.EpisodeState;
import io.gpufleet.proto.health.v1.HealthState;
import io.gpufleet.proto.health.v1.NodeHealthState;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** A changelog record of a later release is refused; it is never read as a healthy node. */
class StateMapperTest {
    private static final int LATER = 99;

    private static ThrowingCallable read(NodeHealthState.Builder state) {
        return () -> StateMapper.toModel("node-1", state.build());
    }

    private static NodeHealthState.Builder healthy() {
        return NodeHealthState.newBuilder().setState(HealthState.HEALTH_STATE_HEALTHY);
    }

    private static DeviceHealthState.Builder device() {
        return DeviceHealthState.newBuilder().setDeviceUuid("gpu-0").setState(HealthState.HEALTH_STATE_HEALTHY);
    }

    @Test
    void nodeWithoutAStateIsRefused() {
        assertThatThrownBy(read(NodeHealthState.newBuilder().setBootId("boot-1")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("HEALTH_STATE_UNSPECIFIED");
    }

    @Test
    void nodeWithAnUnknownStateIsRefused() {
        assertThatThrownBy(read(NodeHealthState.newBuilder().setStateValue(LATER)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("health state");
    }

    @Test
    void deviceWithoutAKnownStateIsRefused() {
        assertThatThrownBy(read(healthy().addDevices(DeviceHealthState.newBuilder())))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(read(healthy().addDevices(device().setStateValue(LATER))))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void episodeOfAnUnknownKindOrActionIsRefused() {
        assertThatThrownBy(
                        read(healthy().addNodeEpisodes(EpisodeState.newBuilder().setKindValue(LATER))))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(read(healthy()
                        .addDevices(
                                device().addEpisodes(EpisodeState.newBuilder().setRecoveryActionValue(LATER)))))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void unknownRecommendedActionIsRefused() {
        assertThatThrownBy(read(healthy().setRecommendedActionValue(LATER)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(read(healthy().addDevices(device().setRecommendedActionValue(LATER))))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void cordonAndFormerDevicesAreReadAsTheyWereWritten() {
        var scenario = new NodeScenario(TestPolicies.with(NodeAction.TAINT_AND_CORDON))
                .announced("gpu-0", "gpu-1")
                .nodeObserved("uid-1")
                .xid("gpu-0", 54)
                .withIncarnation(new HealthSignal.DaemonIncarnation("boot-2", 2_000, false))
                .announced("gpu-1", "gpu-2")
                .xid("gpu-1", 79);
        assertThat(scenario.state().hardware().former()).containsOnlyKeys("gpu-0");
        assertThat(scenario.state().health().nodeAction()).isEqualTo(NodeAction.TAINT_AND_CORDON);

        assertThat(StateMapper.toModel("node-1", StateMapper.toWire(scenario.state())))
                .isEqualTo(scenario.state());
    }
}
