package io.gpufleet.health.kafka;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
}
