package io.gpufleet.health.model.presence;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SilenceDetectorTest {
    private static final Instant START = Instant.parse("2026-03-01T10:00:00Z");
    private static final Function<String, Duration> READ = _ -> Duration.ofHours(1);

    private final SilenceDetector detector = new SilenceDetector();
    private Instant now = START;

    SilenceDetectorTest() {
        detector.restart(START);
    }

    /** Two minutes in which all but these are heard; the nodes that became silent. */
    private List<String> afterTwoMinutes(List<String> nodes, Set<String> unheard, Function<String, Duration> readFor) {
        var found = new ArrayList<String>();
        for (int second = 0; second < 120; second++) {
            now = now.plusSeconds(1);
            Instant at = now;
            nodes.stream().filter(node -> !unheard.contains(node)).forEach(node -> detector.heard(node, at));
            var present = nodes.stream().filter(node -> !found.contains(node)).toList();
            found.addAll(detector.newlySilent(() -> present, readFor, now));
        }
        return found;
    }

    private static List<String> nodes(int number) {
        return IntStream.range(0, number).mapToObj(i -> "node-" + i).toList();
    }

    @Test
    void oneSilentNodeAmongHeardOnesIsSilent() {
        assertThat(afterTwoMinutes(nodes(10), Set.of("node-3"), READ)).containsExactly("node-3");
    }

    @Test
    void theOnlyNodeMayBecomeSilent() {
        assertThat(afterTwoMinutes(nodes(1), Set.of("node-0"), READ)).containsExactly("node-0");
    }

    @Test
    void noNodeIsSilentWhileNobodyIsHeard() {
        assertThat(afterTwoMinutes(nodes(3), Set.copyOf(nodes(3)), READ)).isEmpty();
    }

    @Test
    void noNodeIsSilentWhilePartitionsAreNotReadToTheirEnds() {
        assertThat(afterTwoMinutes(
                        nodes(10),
                        Set.of("node-3"),
                        node -> node.equals("node-3") ? Duration.ZERO : Duration.ofHours(1)))
                .isEmpty();
    }

    @Test
    void aPartitionWithATenthOfTheFleetIsAFaultOfTheBus() {
        assertThat(afterTwoMinutes(nodes(100), Set.copyOf(nodes(11)), READ)).isEmpty();
        assertThat(afterTwoMinutes(nodes(100), Set.copyOf(nodes(10)), READ)).hasSize(10);
    }

    @Test
    void silenceCountsAnewAfterAPause() {
        // Given
        afterTwoMinutes(nodes(10), Set.of(), READ);

        // When
        now = now.plus(Duration.ofHours(1));
        List<String> atOnce = detector.newlySilent(() -> nodes(10), READ, now);

        // Then
        assertThat(atOnce).isEmpty();
        assertThat(afterTwoMinutes(nodes(10), Set.of("node-1"), READ)).containsExactly("node-1");
    }
}
