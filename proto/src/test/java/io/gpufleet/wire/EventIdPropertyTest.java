package io.gpufleet.wire;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;

class EventIdPropertyTest {
    @Property
    void everyIdIsReadAsItWasWritten(
            @ForAll @LongRange(min = 0) long epoch, @ForAll @LongRange(min = 1) long sequence, @ForAll Topic topic) {
        var id = new EventId("gpu-node-1.example", epoch, topic, sequence);

        assertThat(EventId.parse(id.toString())).isEqualTo(id);
    }
}
