package io.gpufleet.wire;

import static io.gpufleet.wire.CodecTest.received;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Message;
import com.google.protobuf.UnknownFieldSet;
import io.gpufleet.proto.health.v1.DeviceHealthState;
import io.gpufleet.proto.health.v1.NodeHealthState;
import java.time.Instant;
import java.util.Arrays;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** States on the changelog of their service: read in full, or refused. */
@NullMarked
class CodecStateTest {
    private final Codec codec = new Codec("c1", new Topics("gpu."));

    @Test
    void fieldOfALaterReleaseInABinaryStateIsRefused() {
        UnknownFieldSet later = UnknownFieldSet.newBuilder()
                .addField(4711, UnknownFieldSet.Field.newBuilder().addVarint(1).build())
                .build();
        var device = DeviceHealthState.newBuilder().setUnknownFields(later);

        assertThat(readState(NodeHealthState.newBuilder().addDevices(device).build()))
                .isEqualTo(new DecodedRecord.Poison(
                        "message io.gpufleet.health.v1.DeviceHealthState has the unknown field 4711"));
    }

    @Test
    void enumValueOfALaterReleaseInABinaryStateIsRefused() {
        var device = DeviceHealthState.newBuilder().setStateValue(99);

        assertThat(readState(NodeHealthState.newBuilder().addDevices(device).build()))
                .isEqualTo(new DecodedRecord.Poison(
                        "field io.gpufleet.health.v1.DeviceHealthState.state has the unknown enum value 99"));
    }

    @Test
    void binaryStateThatIsCutOffIsRefused() {
        ProducerRecord<String, byte[]> rec =
                state(NodeHealthState.newBuilder().setReason("Xid79").build());
        var cut = new ProducerRecord<>(
                rec.topic(), null, rec.key(), Arrays.copyOf(rec.value(), rec.value().length - 1), rec.headers());

        assertThat(codec.decodeState(received(cut))).isInstanceOf(DecodedRecord.Poison.class);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            {"node":"n1","mood":[1,{}]}                                  | mood
            {"announced":{"gpus":[{"uuid":"GPU-1","colour":"red"}]}}     | colour
            {"presence":"PRESENCE_MELTED"}                               | PRESENCE_MELTED
            {"announced":{"gpus":[{"localHealth":"LOCAL_HEALTH_WORN"}]}} | LOCAL_HEALTH_WORN
            {"presence":99}                                              | 99
            """)
    void contentOfALaterReleaseInAJsonStateIsRefusedThoughOthersReadIt(String later, String named) {
        ProducerRecord<String, byte[]> known =
                state("inventory-service-0", Topic.NODES, EventType.NODE_VIEWED, EventType.NODE_VIEWED.prototype());
        ConsumerRecord<String, byte[]> newer = received(
                new ProducerRecord<>(known.topic(), null, known.key(), later.getBytes(UTF_8), known.headers()));

        assertThat(codec.decodeState(received(known))).isInstanceOf(DecodedRecord.Event.class);
        assertThat(codec.decode(newer)).isInstanceOf(DecodedRecord.Event.class);
        assertThat(codec.decodeState(newer))
                .isInstanceOfSatisfying(
                        DecodedRecord.Poison.class,
                        poison -> assertThat(poison.reason()).contains(named));
    }

    private DecodedRecord readState(NodeHealthState state) {
        return codec.decodeState(received(state(state)));
    }

    private ProducerRecord<String, byte[]> state(NodeHealthState state) {
        return state("health-service-0", Topic.HEALTH_STATE, EventType.HEALTH_CHANGED, state);
    }

    private ProducerRecord<String, byte[]> state(String service, Topic topic, EventType type, Message state) {
        return codec.encode(
                new Envelope(
                        new EventId(service, 1000, topic, 1),
                        new EventSource.Service("c1", service),
                        type,
                        "",
                        "n1",
                        new EventTime(Instant.EPOCH, Instant.EPOCH, 0),
                        ""),
                state);
    }
}
