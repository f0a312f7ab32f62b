package io.gpufleet.inventory.kafka;

import static io.gpufleet.inventory.model.Machines.T0;
import static io.gpufleet.inventory.model.Machines.a100;
import static io.gpufleet.inventory.model.Machines.announcement;
import static io.gpufleet.inventory.model.Machines.divided;
import static io.gpufleet.inventory.model.Machines.h100;
import static io.gpufleet.inventory.model.Machines.in;
import static io.gpufleet.inventory.model.Machines.node;
import static io.gpufleet.inventory.model.Machines.onFabric;
import static io.gpufleet.inventory.model.Machines.shared;
import static io.gpufleet.inventory.model.Machines.virtual;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.inventory.model.Announcement;
import io.gpufleet.inventory.model.Gpu;
import io.gpufleet.inventory.model.Holder;
import io.gpufleet.inventory.model.NodeImage;
import io.gpufleet.inventory.model.NodeSettings;
import io.gpufleet.inventory.model.Presence;
import io.gpufleet.inventory.model.Verdicts;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.proto.inventory.v1.NodeView;
import io.gpufleet.wire.Codec;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Images survive the changelog, to the byte. */
class ViewMapperTest {
    private static final NodeImage FULL = node(
                    "n1",
                    announcement(
                            Announcement.MigStrategy.MIXED,
                            onFabric(h100(0), "c.1"),
                            virtual(
                                    shared(a100(1), Gpu.Sharing.Strategy.MPS, 4, "nvidia.com/gpu.shared"),
                                    "525.60",
                                    "r525_00"),
                            in(divided(2, "1g.5gb", 2), Gpu.LocalHealth.LOST)))
            .with(new Verdicts("suspect", Map.of("GPU-H100-0", "suspect", "GPU-A100-1", "healthy")))
            .heldBy(List.of(new Holder("ns", "pod", "main", List.of("GPU-A100-1::2"))))
            .ofObject("uid-1", new NodeSettings("big", "all-1g.5gb"))
            .conflicting(List.of("accelerator", "gpu-type"))
            .atRevision(42);

    private static NodeImage throughTheLog(NodeImage node) throws Exception {
        byte[] json = Codec.toJson(ViewMapper.wire(node));
        return ViewMapper.model(node.name(), (NodeView) Codec.fromJson(json, NodeView.getDefaultInstance()));
    }

    @Test
    void fullImageComesBackAsItWent() throws Exception {
        assertThat(throughTheLog(FULL)).isEqualTo(FULL);
    }

    @Test
    void imageWithoutAnAnnouncementComesBackAsItWent() throws Exception {
        NodeImage objectOnly =
                NodeImage.unknown("n1").ofObject("uid-1", NodeSettings.NONE).atRevision(1);
        assertThat(throughTheLog(objectOnly)).isEqualTo(objectOnly);
        assertThat(throughTheLog(NodeImage.unknown("n1"))).isEqualTo(NodeImage.unknown("n1"));
    }

    @Test
    void everyPresenceComesBack() throws Exception {
        for (Presence presence : List.of(new Presence.Present(T0), new Presence.Departed(T0), new Presence.Lost(T0))) {
            assertThat(throughTheLog(FULL.with(presence)).presence()).isEqualTo(presence);
        }
    }

    @ParameterizedTest
    @EnumSource
    void everyDriverStateComesBack(Announcement.DriverState state) throws Exception {
        NodeImage node = node("n1", io.gpufleet.inventory.model.Machines.blind(state));
        assertThat(throughTheLog(node)).isEqualTo(node);
    }

    @ParameterizedTest
    @EnumSource
    void everySharingStrategyComesBack(Gpu.Sharing.Strategy strategy) throws Exception {
        NodeImage node = node("n1", announcement(shared(a100(0), strategy, 2, "nvidia.com/gpu")));
        assertThat(throughTheLog(node)).isEqualTo(node);
    }

    @ParameterizedTest
    @EnumSource
    void everyMigStrategyComesBack(Announcement.MigStrategy strategy) throws Exception {
        NodeImage node = node("n1", announcement(strategy, a100(0)));
        assertThat(throughTheLog(node)).isEqualTo(node);
    }

    @Test
    void sameImageHasTheSameBytes() throws Exception {
        assertThat(Codec.toJson(ViewMapper.wire(throughTheLog(FULL)))).isEqualTo(Codec.toJson(ViewMapper.wire(FULL)));
    }

    @Test
    void unknownWordOfANewerDaemonIsUnknownAndNoError() throws Exception {
        byte[] json = "{\"bootId\":\"b\",\"driverState\":\"DRIVER_STATE_ON_HOLIDAY\",\"future\":1}".getBytes(UTF_8);
        var wire = (NodeAnnounced) Codec.fromJson(json, NodeAnnounced.getDefaultInstance());
        assertThat(AnnouncementMapper.model(wire, T0).driverState()).isEqualTo(Announcement.DriverState.UNKNOWN);
    }
}
