package io.gpufleet.runtime.consistency;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.runtime.projection.Effects;
import io.gpufleet.runtime.projection.Outbound;
import io.gpufleet.runtime.projection.Projection;
import io.gpufleet.wire.Codec;

/** The sizes of what a projection writes, against those that its topics take. */
public final class RecordSizes {
    /** For headers and key of a record. */
    private static final int HEADERS = 4 * 1024;

    private RecordSizes() {}

    /** Fails unless every output and at least one state fit onto their topics. */
    public static <S> void assertThatAllFit(Projection<S> projection, Effects<S> effects) {
        assertThat(effects.outputs()).allSatisfy(output -> {
            var event = (Outbound.Event) output;
            assertThat(Codec.toValue(event.type(), event.payload()).length)
                    .as("%s", event.type())
                    .isLessThan(event.topic().maxMessageBytes() - HEADERS);
        });
        var spec = projection.spec();
        assertThat(effects.states())
                .isNotEmpty()
                .allSatisfy((key, state) -> assertThat(
                                Codec.toValue(spec.stateType(), projection.write(key, state)).length)
                        .isLessThan(spec.changelog().maxMessageBytes() - HEADERS));
    }
}
