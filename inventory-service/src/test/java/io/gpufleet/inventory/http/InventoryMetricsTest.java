package io.gpufleet.inventory.http;

import static io.gpufleet.inventory.model.TestNodes.a100;
import static io.gpufleet.inventory.model.TestNodes.announcement;
import static io.gpufleet.inventory.model.TestNodes.node;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.inventory.app.FleetCounts;
import io.gpufleet.inventory.app.FleetView;
import io.gpufleet.kit.lifecycle.BuildInfo;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The metrics page. */
class InventoryMetricsTest {
    @Test
    void metricsSurviveGarbageCollection() {
        var view = new FleetView();
        view.commit(List.of(node("n1", announcement(a100(0)))), List.of());
        var metrics = new InventoryMetrics(view.counts(), () -> List.of("n9"));

        System.gc();

        assertThat(metrics.scrape())
                .contains("gpufleet_silent_nodes 1.0\n")
                .contains("gpufleet_nodes{presence=\"present\"} 1.0\n")
                .contains("gpufleet_devices{health=\"healthy\"} 1.0\n");
    }

    @Test
    void buildIsNamed() {
        var build = BuildInfo.current();

        assertThat(new InventoryMetrics(new FleetCounts(), List::of).scrape())
                .contains("gpufleet_build_info{revision=\"" + build.revision() + "\",version=\"" + build.version()
                        + "\"} 1\n");
    }
}
