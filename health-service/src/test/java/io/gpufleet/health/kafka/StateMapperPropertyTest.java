package io.gpufleet.health.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.InvalidProtocolBufferException;
import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.health.model.HealthSignal;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.Policies;
import io.gpufleet.health.model.Story;
import io.gpufleet.health.model.Tale;
import io.gpufleet.proto.health.v1.NodeHealth;
import io.gpufleet.wire.Codec;
import java.time.Duration;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** What a restart loads is what was in memory, byte for byte when it is written again. */
class StateMapperPropertyTest {
    private final HealthMachine machine =
            new HealthMachine(Policies.with(Duration.ofSeconds(1)), Duration.ofMinutes(10));

    @Property
    void everyStateIsReadAsItWasWritten(@ForAll long tale, @ForAll long order) throws InvalidProtocolBufferException {
        NodeState state = NodeState.unknown("node-1", Story.START);
        for (HealthSignal signal : Tale.interleaved(Tale.of(tale), order)) {
            state = machine.decide(state, signal, signal.heard().at()).state();
            byte[] written = Codec.toJson(StateMapper.toWire(state));

            NodeState read = StateMapper.toModel(
                    "node-1", (NodeHealth) Codec.fromJson(written, NodeHealth.getDefaultInstance()));

            assertThat(read).isEqualTo(state);
            assertThat(Codec.toJson(StateMapper.toWire(read))).isEqualTo(written);
        }
    }

    @Property(tries = 50)
    void anOperatorsHandIsReadAsItWasWritten(@ForAll long seconds) {
        var story = new Story(Policies.standard())
                .announced("gpu-0")
                .after(Duration.ofSeconds(Math.floorMod(seconds, 1_000_000L)))
                .xid("gpu-0", 79)
                .taintRemoved();
        assertThat(story.state().hand()).isNotNull();

        assertThat(StateMapper.toModel("node-1", StateMapper.toWire(story.state())))
                .isEqualTo(story.state());
    }
}
