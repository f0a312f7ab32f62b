package io.gpufleet.runtime.record;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.proto.inventory.v1.NodeView;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.EventType;
import org.junit.jupiter.api.Test;

class EncodedOnceTest {
    private static final NodeView VIEW =
            NodeView.newBuilder().setNode("n1").setRevision(3).build();

    private final EncodedOnce values = new EncodedOnce(EventType.NODE_VIEWED);

    @Test
    void stateThatAnOutputShowsIsEncodedOnce() {
        values.announce(EventType.NODE_VIEWED, VIEW);

        byte[] value = values.value(EventType.NODE_VIEWED, VIEW);

        assertThat(value).isEqualTo(Codec.toJson(VIEW));
        assertThat(values.value(EventType.NODE_VIEWED, VIEW)).isSameAs(value);
    }

    @Test
    void equalMessageIsAnotherOne() {
        values.announce(EventType.NODE_VIEWED, VIEW);
        NodeView equal = VIEW.toBuilder().build();

        assertThat(values.value(EventType.NODE_VIEWED, equal))
                .isEqualTo(values.value(EventType.NODE_VIEWED, VIEW))
                .isNotSameAs(values.value(EventType.NODE_VIEWED, VIEW));
    }

    @Test
    void payloadOfAnotherTypeIsNotShared() {
        values.announce(EventType.SETTINGS_CHOSEN, VIEW);

        assertThat(values.value(EventType.NODE_VIEWED, VIEW)).isNotSameAs(values.value(EventType.NODE_VIEWED, VIEW));
    }
}
