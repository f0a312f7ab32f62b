package io.gpufleet.compose.bench.daemon;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class SideBySideTest {
    @Test
    void everyCandidateIsAColumnAndEveryFigureARow() {
        // Given
        var samples = new Samples();
        samples.spread("gpufleet", "allocate", "us", List.of(1.0, 3.0, 2.0));
        samples.spread("plugin", "allocate", "us", List.of(5.0));
        samples.value("gpufleet", "idle-rss", "MiB", 90);
        samples.value("gpufleet", "idle-rss", "MiB", 100);
        samples.value("gpufleet", "idle-rss", "MiB", 98);
        // When
        String table = SideBySide.of(samples.figures().all()).render();
        // Then
        assertThat(table.lines().map(line -> line.replaceAll(" +", " ")))
                .containsExactly(
                        "FIGURE gpufleet plugin UNIT",
                        "allocate.count 3.0 1.0 1",
                        "allocate.p50 2.0 5.0 us",
                        "allocate.p99 3.0 5.0 us",
                        "allocate.max 3.0 5.0 us",
                        "idle-rss 98.0 - MiB");
    }
}
