package io.gpufleet.bench.projection;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.BitSet;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FleetEventsTest {
    private static final int KINDS = 100;

    @ParameterizedTest
    @ValueSource(ints = {100, 300, 1_000})
    void everyNodeIsInEachRoundOnceAndGetsEveryEventOfTheMix(int nodes) {
        var kinds = IntStream.range(0, nodes).mapToObj(_ -> new BitSet()).toList();

        for (int round = 0; round < KINDS; round++) {
            var met = new BitSet();
            for (int i = round * nodes; i < (round + 1) * nodes; i++) {
                int node = FleetEvents.nodeOf(i, nodes);
                met.set(node);
                kinds.get(node).set(i % KINDS);
            }
            assertThat(met.cardinality()).isEqualTo(nodes);
        }

        assertThat(kinds).allSatisfy(found -> assertThat(found.cardinality()).isEqualTo(KINDS));
    }
}
