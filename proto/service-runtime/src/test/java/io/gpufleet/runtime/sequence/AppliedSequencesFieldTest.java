package io.gpufleet.runtime.sequence;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.proto.inventory.v1.NodeView;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.DecodedRecord;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.Topic;
import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class AppliedSequencesFieldTest {
    private final AppliedSequencesField field = new AppliedSequencesField(NodeView.getDefaultInstance());

    static Stream<NodeView> views() {
        return Stream.of(
                NodeView.getDefaultInstance(),
                NodeView.newBuilder().setNode("n1").setRevision(3).build());
    }

    @ParameterizedTest
    @MethodSource("views")
    void sequencesBehindTheJsonOfAStateAreThoseOfTheMessage(NodeView view) {
        var sequences = new KeySequences();
        EventSequenceReader.admit(
                sequences,
                new DecodedRecord.UnknownType(
                        new EventId("n1", 1000, Topic.HEALTH, 7),
                        new EventSource.Node("c1", "n1"),
                        "n1",
                        "later",
                        "boot"));

        byte[] whole = field.appendJson(Codec.toJson(view), sequences);

        assertThat(new String(whole, StandardCharsets.UTF_8))
                .isEqualTo(new String(Codec.toJson(field.with(view, sequences)), StandardCharsets.UTF_8));
    }
}
