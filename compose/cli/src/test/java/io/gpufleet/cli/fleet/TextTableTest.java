package io.gpufleet.cli.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class TextTableTest {
    @Test
    void columnsAreAsWideAsTheirWidestCell() {
        assertThat(new TextTable("A", "LONG").row("wider", "x").row("y", "").render())
                .isEqualTo("A      LONG\nwider  x\ny\n");
    }

    @Test
    void rowOfAnotherLengthIsRefused() {
        assertThatThrownBy(() -> new TextTable("A", "B").row("a")).isInstanceOf(IllegalArgumentException.class);
    }
}
