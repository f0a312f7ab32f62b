package io.gpufleet.bench.harness;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class MeasurementsTest {
    @Test
    void distributionNamesMedianAndTail() {
        // Given
        var figures = new Measurements();
        List<Double> sample =
                IntStream.rangeClosed(1, 100).mapToObj(i -> (double) i).toList();
        // When
        figures.addDistribution("x", sample.reversed(), "ms");
        // Then
        assertThat(figures.all())
                .containsExactly(
                        new Measurement("x.count", 100, "1"),
                        new Measurement("x.p50", 50, "ms"),
                        new Measurement("x.p99", 99, "ms"),
                        new Measurement("x.max", 100, "ms"));
    }

    @Test
    void everyMeasurementIsNameValueUnitInJson() {
        // Given
        var figures = new Measurements();
        figures.add("a.b", 1.25, "s");
        // When Then
        assertThat(figures.json().replaceAll("\\s", ""))
                .isEqualTo("[{\"name\":\"a.b\",\"value\":1.25,\"unit\":\"s\"}]");
        assertThat(figures.table()).contains("a.b").contains("1.3");
    }
}
