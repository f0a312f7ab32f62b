package io.gpufleet.inventory.http;

import static io.gpufleet.inventory.model.TestNodes.a100;
import static io.gpufleet.inventory.model.TestNodes.announcement;
import static io.gpufleet.inventory.model.TestNodes.node;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.inventory.app.FleetView;
import io.gpufleet.kit.lifecycle.BuildInfo;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** The metrics page. */
class InventoryMetricsTest {
    @Test
    void metricsSurviveGarbageCollection() {
        var view = new FleetView();
        view.commit(List.of(node("n1", announcement(a100(0))), node("n2", announcement(a100(1)))), List.of());
        view.suspect(List.of("n2"));
        var metrics = new InventoryMetrics(view::summary, () -> 3, () -> true);

        System.gc();

        assertThat(metrics.scrape())
                .contains("gpufleet_nodes{presence=\"present\"} 1.0\n")
                .contains("gpufleet_nodes{presence=\"suspected\"} 1.0\n")
                .contains("gpufleet_nodes{presence=\"lost\"} 0.0\n")
                .contains("gpufleet_devices{health=\"healthy\"} 2.0\n")
                .contains("gpufleet_label_differences 3.0\n");
    }

    @Test
    void activeReplicaAloneExportsFiguresOfTheFleet() {
        var view = new FleetView();
        view.commit(List.of(node("n1", announcement(a100(0)))), List.of());
        var active = new AtomicBoolean(true);
        var metrics = new InventoryMetrics(view::summary, () -> 3, active::get);
        assertThat(metrics.scrape()).contains("gpufleet_nodes{");

        active.set(false);

        assertThat(metrics.scrape()).doesNotContain("gpufleet_nodes{").doesNotContain("gpufleet_devices{");
    }

    @Test
    void buildIsNamed() {
        var build = BuildInfo.current();

        assertThat(new InventoryMetrics(new FleetView()::summary, () -> 0, () -> false).scrape())
                .contains("gpufleet_build_info{revision=\"" + build.revision() + "\",version=\"" + build.version()
                        + "\"} 1\n");
    }
}
