package io.gpufleet.inventory.http;

import static io.gpufleet.inventory.model.TestNodes.a100;
import static io.gpufleet.inventory.model.TestNodes.announcement;
import static io.gpufleet.inventory.model.TestNodes.fleet;
import static io.gpufleet.inventory.model.TestNodes.node;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** The metrics page. */
class InventoryMetricsTest {
    @Test
    void metricsSurviveGarbageCollection() {
        var metrics = new InventoryMetrics(() -> fleet(node("n1", announcement(a100(0)))), () -> List.of("n9"));
        var count = new AtomicLong(3);
        metrics.counter("gpufleet_test_events", "events", () -> count.get());
        metrics.gauge("gpufleet_test_lag", "lag", () -> 2 * count.get());

        System.gc();

        assertThat(metrics.scrape())
                .contains("gpufleet_test_events_total 3.0\n")
                .contains("gpufleet_test_lag 6.0\n")
                .contains("gpufleet_silent_nodes 1.0\n")
                .contains("gpufleet_nodes{presence=\"present\"} 1.0\n")
                .contains("gpufleet_devices{health=\"healthy\"} 1.0\n");
    }
}
