package io.gpufleet.runtime.record;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import io.gpufleet.proto.health.v1.NodeHealthState;
import io.gpufleet.runtime.projection.Effects;
import io.gpufleet.runtime.projection.Inbound;
import io.gpufleet.runtime.projection.Projection;
import io.gpufleet.runtime.projection.ProjectionSpec;
import io.gpufleet.runtime.projection.States;
import io.gpufleet.runtime.sequence.AppliedSequencesField;
import io.gpufleet.runtime.sequence.EventSequenceReader;
import io.gpufleet.runtime.sequence.KeySequences;
import io.gpufleet.wire.DecodedRecord;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

@NullMarked
class StateEncoderTest {
    private static final NodeHealthState STATE = NodeHealthState.newBuilder()
            .setReason("first")
            .setVerdictRevision(7)
            .build();
    private static final NodeHealthState OTHER =
            NodeHealthState.newBuilder().setReason("other").build();

    private static final EncodedOnce NOTHING_SHARED = new EncodedOnce(EventType.HEALTH_CHANGED);

    private final WriteCounter projection = new WriteCounter();
    private final StateEncoder<NodeHealthState> encoder = new StateEncoder<>(projection);

    @Test
    void valueIsTheMessageWithItsSequences() throws InvalidProtocolBufferException {
        KeySequences sequences = upTo(3);

        byte[] value = encoder.encode("n1", STATE, Optional.of(sequences), false, NOTHING_SHARED);

        assertThat(NodeHealthState.parseFrom(value)).isEqualTo(new AppliedSequencesField(STATE).with(STATE, sequences));
        assertThat(encoder.encode("n1", STATE, Optional.empty(), false, NOTHING_SHARED))
                .isEqualTo(STATE.toByteArray());
    }

    @Test
    void stateThatIsWrittenAgainIsEncodedOnceAndHasTheNewestSequences() throws InvalidProtocolBufferException {
        encoder.encode("n1", STATE, Optional.of(upTo(3)), true, NOTHING_SHARED);

        byte[] value = encoder.encode("n1", STATE, Optional.of(upTo(4)), true, NOTHING_SHARED);

        assertThat(projection.written).isEqualTo(1);
        assertThat(NodeHealthState.parseFrom(value)).isEqualTo(new AppliedSequencesField(STATE).with(STATE, upTo(4)));
    }

    @Test
    void anotherStateOfTheSameKeyIsEncoded() throws InvalidProtocolBufferException {
        encoder.encode("n1", STATE, Optional.of(upTo(3)), true, NOTHING_SHARED);

        byte[] other = encoder.encode("n1", OTHER, Optional.of(upTo(4)), false, NOTHING_SHARED);
        byte[] first = encoder.encode("n1", STATE, Optional.of(upTo(5)), false, NOTHING_SHARED);

        assertThat(NodeHealthState.parseFrom(other).getReason()).isEqualTo("other");
        assertThat(NodeHealthState.parseFrom(first).getReason()).isEqualTo("first");
        assertThat(projection.written).isEqualTo(3);
    }

    @Test
    void nothingIsKeptOfStatesThatChangeAndOfKeysThatAreGivenUp() {
        encoder.encode("n1", STATE, Optional.empty(), false, NOTHING_SHARED);
        encoder.encode("n1", STATE, Optional.empty(), true, NOTHING_SHARED);
        encoder.forget("n1");

        encoder.encode("n1", STATE, Optional.empty(), true, NOTHING_SHARED);

        assertThat(projection.written).isEqualTo(3);
    }

    private static KeySequences upTo(long sequence) {
        var sequences = new KeySequences();
        for (long each = 1; each <= sequence; each++) {
            var id = new EventId("n1", 1000, Topic.HEALTH, each);
            EventSequenceReader.admit(
                    sequences,
                    new DecodedRecord.UnknownType(id, new EventSource.Node("c1", "n1"), "n1", "later", "boot"));
        }
        return sequences;
    }

    /** Counts how often a state is written; folds nothing. */
    private static final class WriteCounter implements Projection<NodeHealthState> {
        private int written;

        @Override
        public ProjectionSpec spec() {
            return new ProjectionSpec(
                    Topic.HEALTH_STATE, EventType.HEALTH_CHANGED, 1, Set.of(Topic.HEALTH), Set.of(), Set.of());
        }

        @Override
        public NodeHealthState read(String key, Message state) {
            return (NodeHealthState) state;
        }

        @Override
        public Message write(String key, NodeHealthState state) {
            written++;
            return state;
        }

        @Override
        public Effects<NodeHealthState> on(States<NodeHealthState> states, Inbound input, Instant now) {
            return Effects.none();
        }
    }
}
