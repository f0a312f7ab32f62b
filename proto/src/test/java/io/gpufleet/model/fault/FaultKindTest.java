package io.gpufleet.model.fault;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The kinds of the models are those of the wire, so that each is mapped by its name. */
final class FaultKindTest {
    @Test
    void namesAreThoseOfTheWire() {
        Stream<String> wire = Arrays.stream(io.gpufleet.proto.health.v1.FaultKind.values())
                .filter(kind -> kind != io.gpufleet.proto.health.v1.FaultKind.FAULT_KIND_UNSPECIFIED)
                .filter(kind -> kind != io.gpufleet.proto.health.v1.FaultKind.UNRECOGNIZED)
                .map(Enum::name);

        assertThat(Arrays.stream(FaultKind.values())
                        .filter(kind -> kind != FaultKind.UNKNOWN)
                        .map(kind -> "FAULT_KIND_" + kind))
                .containsExactlyInAnyOrderElementsOf(wire.toList());
    }
}
