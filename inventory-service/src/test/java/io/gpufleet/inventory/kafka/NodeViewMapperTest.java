package io.gpufleet.inventory.kafka;

import static io.gpufleet.inventory.model.TestNodes.T0;
import static io.gpufleet.inventory.model.TestNodes.a100;
import static io.gpufleet.inventory.model.TestNodes.announcement;
import static io.gpufleet.inventory.model.TestNodes.h100;
import static io.gpufleet.inventory.model.TestNodes.migGpu;
import static io.gpufleet.inventory.model.TestNodes.node;
import static io.gpufleet.inventory.model.TestNodes.onFabric;
import static io.gpufleet.inventory.model.TestNodes.shared;
import static io.gpufleet.inventory.model.TestNodes.vgpu;
import static io.gpufleet.inventory.model.TestNodes.withHealth;
import static io.gpufleet.inventory.model.TestNodes.withoutDriver;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import io.gpufleet.inventory.model.Announcement;
import io.gpufleet.inventory.model.Gpu;
import io.gpufleet.inventory.model.Holder;
import io.gpufleet.inventory.model.NodeSettings;
import io.gpufleet.inventory.model.NodeState;
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

/** Round trips of a node through the changelog, to the byte. */
class NodeViewMapperTest {
    /** A node with everything that a view has. */
    static final NodeState FULL = node(
                    "n1",
                    announcement(
                            Announcement.MigStrategy.MIXED,
                            onFabric(h100(0), "c.1"),
                            vgpu(
                                    shared(a100(1), Gpu.Sharing.SharingStrategy.MPS, 4, "nvidia.com/gpu.shared"),
                                    "525.60",
                                    "r525_00"),
                            withHealth(migGpu(2, "1g.5gb", 2), Gpu.LocalHealth.LOST)))
            .with(new Verdicts("suspect", Map.of("GPU-H100-0", "suspect", "GPU-A100-1", "healthy")))
            .withHolders(List.of(new Holder("ns", "pod", "main", List.of("GPU-A100-1::2"))))
            .withNodeObject("uid-1", new NodeSettings("big", "all-1g.5gb"))
            .withLabelConflicts(List.of("accelerator", "gpu-type"))
            .withRevision(42);

    private static NodeState roundTrip(NodeState node) throws Exception {
        byte[] json = Codec.toJson(NodeViewMapper.wire(node));
        return NodeViewMapper.model(node.name(), (NodeView) Codec.fromJson(json, NodeView.getDefaultInstance()));
    }

    @Test
    void fullNodeRoundTrips() throws Exception {
        assertThat(roundTrip(FULL)).isEqualTo(FULL);
    }

    @Test
    void nodeWithoutAnAnnouncementRoundTrips() throws Exception {
        NodeState objectOnly = NodeState.unknown("n1")
                .withNodeObject("uid-1", NodeSettings.NONE)
                .withRevision(1);
        assertThat(roundTrip(objectOnly)).isEqualTo(objectOnly);
        assertThat(roundTrip(NodeState.unknown("n1"))).isEqualTo(NodeState.unknown("n1"));
    }

    @Test
    void everyPresenceRoundTrips() throws Exception {
        for (Presence presence : List.of(new Presence.Present(T0), new Presence.Departed(T0), new Presence.Lost(T0))) {
            assertThat(roundTrip(FULL.with(presence)).presence()).isEqualTo(presence);
        }
    }

    @ParameterizedTest
    @EnumSource
    void everyDriverStateRoundTrips(Announcement.DriverState state) throws Exception {
        NodeState node = node("n1", withoutDriver(state));
        assertThat(roundTrip(node)).isEqualTo(node);
    }

    @ParameterizedTest
    @EnumSource
    void everySharingStrategyRoundTrips(Gpu.Sharing.SharingStrategy strategy) throws Exception {
        NodeState node = node("n1", announcement(shared(a100(0), strategy, 2, "nvidia.com/gpu")));
        assertThat(roundTrip(node)).isEqualTo(node);
    }

    @ParameterizedTest
    @EnumSource
    void everyMigStrategyRoundTrips(Announcement.MigStrategy strategy) throws Exception {
        NodeState node = node("n1", announcement(strategy, a100(0)));
        assertThat(roundTrip(node)).isEqualTo(node);
    }

    @Test
    void equalNodesHaveEqualBytes() throws Exception {
        assertThat(Codec.toJson(NodeViewMapper.wire(roundTrip(FULL))))
                .isEqualTo(Codec.toJson(NodeViewMapper.wire(FULL)));
    }

    @Test
    void unknownEnumValueOfANewerDaemonBecomesUnknown() throws Exception {
        byte[] json = "{\"bootId\":\"b\",\"driverState\":\"DRIVER_STATE_FUTURE\",\"future\":1}".getBytes(UTF_8);
        var wire = (NodeAnnounced) Codec.fromJson(json, NodeAnnounced.getDefaultInstance());
        assertThat(AnnouncementMapper.model(wire, T0).driver().state()).isEqualTo(Announcement.DriverState.UNKNOWN);
    }

    @Test
    void viewCarriesEveryAnnouncedField() {
        NodeAnnounced announced = (NodeAnnounced) filled(NodeAnnounced.newBuilder());

        assertThat(AnnouncementMapper.wire(AnnouncementMapper.model(announced, T0)))
                .isEqualTo(announced);
    }

    /** The message with every field set, each number and text to another value. */
    private static Message filled(Message.Builder message) {
        for (FieldDescriptor field : message.getDescriptorForType().getFields()) {
            if (field.isMapField()) {
                var entry = message.newBuilderForField(field);
                message.addRepeatedField(field, filled(entry));
            } else if (field.isRepeated()) {
                message.addRepeatedField(field, value(message, field));
            } else {
                message.setField(field, value(message, field));
            }
        }
        return message.build();
    }

    private static Object value(Message.Builder message, FieldDescriptor field) {
        return switch (field.getJavaType()) {
            case INT -> 100 + field.getNumber();
            case LONG -> 1_000L + field.getNumber();
            case STRING -> field.getFullName();
            case BOOLEAN -> true;
            case ENUM -> field.getEnumType().getValues().getLast();
            case MESSAGE -> filled(message.newBuilderForField(field));
            case FLOAT, DOUBLE, BYTE_STRING -> throw new IllegalStateException("no such field is announced yet");
        };
    }
}
