package io.gpufleet.inventory.model;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The lag up to which a consumer has caught up. */
class ConsumerProgressTest {
    @Test
    void lagUpToATenthOfTheNodesIsCaughtUp() {
        assertThat(ConsumerProgress.isCaughtUp(0, 0)).isTrue();
        assertThat(ConsumerProgress.isCaughtUp(1, 9)).isFalse();
        assertThat(ConsumerProgress.isCaughtUp(100, 1000)).isTrue();
        assertThat(ConsumerProgress.isCaughtUp(101, 1000)).isFalse();
    }
}
