package io.gpufleet.compose.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class FiguresTest {
    @Test
    void spreadNamesMiddleAndTail() {
        // Given
        var figures = new Figures();
        List<Double> sample =
                IntStream.rangeClosed(1, 100).mapToObj(i -> (double) i).toList();
        // When
        figures.addSpread("x", sample.reversed(), "ms");
        // Then
        assertThat(figures.all())
                .containsExactly(
                        new Figure("x.count", 100, "1"),
                        new Figure("x.p50", 50, "ms"),
                        new Figure("x.p99", 99, "ms"),
                        new Figure("x.max", 100, "ms"));
    }

    @Test
    void everyFigureIsNameValueUnitInJson() {
        // Given
        var figures = new Figures();
        figures.add("a.b", 1.25, "s");
        // When Then
        assertThat(figures.json().replaceAll("\\s", ""))
                .isEqualTo("[{\"name\":\"a.b\",\"value\":1.25,\"unit\":\"s\"}]");
        assertThat(figures.table()).contains("a.b").contains("1.3");
    }
}
