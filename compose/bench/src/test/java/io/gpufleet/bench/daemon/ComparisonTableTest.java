package io.gpufleet.bench.daemon;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.bench.harness.Measurements;
import java.util.List;
import org.junit.jupiter.api.Test;

class ComparisonTableTest {
    @Test
    void everyPluginIsColumnAndEveryMeasurementRow() {
        // Given
        var samples = new LatencySamples();
        samples.addDistribution("gpufleet", "allocate", "us", List.of(1.0, 3.0, 2.0));
        samples.addDistribution("plugin", "allocate", "us", List.of(5.0));
        samples.addValue("gpufleet", "idle-rss", "MiB", 90);
        samples.addValue("gpufleet", "idle-rss", "MiB", 100);
        samples.addValue("gpufleet", "idle-rss", "MiB", 98);
        // When
        var measurements = new Measurements();
        samples.addTo(measurements);
        String table = ComparisonTable.of(measurements.all()).render();
        // Then
        assertThat(table.lines().map(line -> line.replaceAll(" +", " ")))
                .containsExactly(
                        "MEASUREMENT gpufleet plugin UNIT",
                        "allocate.count 3.0 1.0 1",
                        "allocate.p50 2.0 5.0 us",
                        "allocate.p99 3.0 5.0 us",
                        "allocate.max 3.0 5.0 us",
                        "idle-rss 98.0 - MiB");
    }
}
