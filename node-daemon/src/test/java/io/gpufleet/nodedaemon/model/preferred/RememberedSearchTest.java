package io.gpufleet.nodedaemon.model.preferred;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.BitSet;
import org.junit.jupiter.api.Test;

class RememberedSearchTest {
    private int searches;
    private final RememberedSearch search = new RememberedSearch(this::firstOnes);

    private BitSet firstOnes(BitSet must, BitSet free, int count) {
        searches++;
        var first = new BitSet();
        free.stream().limit(count).forEach(first::set);
        return first;
    }

    private static BitSet gpus(int... indexes) {
        var gpus = new BitSet();
        for (int index : indexes) {
            gpus.set(index);
        }
        return gpus;
    }

    @Test
    void sameQuestionIsSearchedOnce() {
        assertThat(search.choose(gpus(), gpus(1, 2, 3), 2)).isEqualTo(gpus(1, 2));
        assertThat(search.choose(gpus(), gpus(1, 2, 3), 2)).isEqualTo(gpus(1, 2));

        assertThat(searches).isEqualTo(1);
    }

    @Test
    void questionsThatDifferInOneArgumentAreDifferent() {
        search.choose(gpus(), gpus(1, 2, 3), 2);
        search.choose(gpus(0), gpus(1, 2, 3), 2);
        search.choose(gpus(), gpus(1, 2, 3), 1);
        search.choose(gpus(), gpus(1, 2), 2);

        assertThat(searches).isEqualTo(4);
    }

    @Test
    void neitherTheQuestionNorTheAnswerIsSharedWithCallers() {
        // Given
        BitSet free = gpus(1, 2, 3);
        BitSet first = search.choose(gpus(), free, 2);
        // When
        first.clear();
        free.clear(1);
        // Then
        assertThat(search.choose(gpus(), gpus(1, 2, 3), 2)).isEqualTo(gpus(1, 2));
        assertThat(search.choose(gpus(), free, 2)).isEqualTo(gpus(2, 3));
    }
}
