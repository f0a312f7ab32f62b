package io.gpufleet.wire;

import static org.assertj.core.api.Assertions.assertThat;

import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

@NullMarked
class TraceParentTest {
    @Test
    void traceIsThatOfTheEventAndValidForW3c() {
        var id = new EventId("n1", 1000, Topic.HEALTH, 1);

        assertThat(TraceParent.of(id))
                .matches("00-[0-9a-f]{32}-[0-9a-f]{16}-01")
                .isEqualTo(TraceParent.of(new EventId("n1", 1000, Topic.HEALTH, 1)))
                .isNotEqualTo(TraceParent.of(new EventId("n1", 1000, Topic.HEALTH, 2)));
    }
}
