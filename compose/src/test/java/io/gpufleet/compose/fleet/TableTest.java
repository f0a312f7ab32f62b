package io.gpufleet.compose.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class TableTest {
    @Test
    void columnsAreAsWideAsTheirWidestCell() {
        assertThat(new Table("A", "LONG").row("wider", "x").row("y", "").render())
                .isEqualTo("A      LONG\nwider  x\ny\n");
    }

    @Test
    void rowOfAnotherLengthIsRefused() {
        assertThatThrownBy(() -> new Table("A", "B").row("a")).isInstanceOf(IllegalArgumentException.class);
    }
}
