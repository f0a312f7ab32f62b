package io.gpufleet.inventory.http;

import io.gpufleet.inventory.app.FleetCounts;
import io.gpufleet.kit.lifecycle.BuildInfo;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.prometheus.metrics.core.metrics.Info;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** The metrics page: counts of the fleet, the projection and the JVM. */
public final class InventoryMetrics {
    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final FleetCounts counts;

    private final MultiGauge nodes;
    private final MultiGauge devices;

    /** Metrics of the newest fleet at each scrape. */
    public InventoryMetrics(FleetCounts counts, Supplier<List<String>> suspected) {
        this.counts = counts;
        this.nodes = MultiGauge.builder("gpufleet_nodes")
                .description("announced nodes")
                .register(registry);
        this.devices = MultiGauge.builder("gpufleet_devices")
                .description("announced GPUs")
                .register(registry);
        // A strong reference: a gauge whose object is collected reads NaN.
        Gauge.builder("gpufleet_silent_nodes", suspected, nodes -> nodes.get().size())
                .description("silent nodes not declared lost because the bus is suspected")
                .strongReference(true)
                .register(registry);
        BuildInfo build = BuildInfo.current();
        // Micrometer takes the suffix _info off a gauge; Prometheus has a kind of metric for it.
        Info.builder()
                .name(BuildInfo.METRIC)
                .help("version and Git revision of the build")
                .labelNames("version", "revision")
                .register(registry.getPrometheusRegistry())
                .addLabelValues(build.version(), build.revision());
        new JvmMemoryMetrics().bindTo(registry);
        new ProcessorMetrics().bindTo(registry);
    }

    /** Where the figures of other parts are registered. */
    public MeterRegistry registry() {
        return registry;
    }

    /** All metrics in the text format of Prometheus. */
    public String scrape() {
        nodes.register(rows("presence", counts.nodesByPresence()), true);
        devices.register(rows("health", counts.devicesByHealth()), true);
        return registry.scrape();
    }

    private static List<MultiGauge.Row<?>> rows(String label, Map<String, Integer> counts) {
        return counts.entrySet().stream()
                .<MultiGauge.Row<?>>map(entry -> MultiGauge.Row.of(Tags.of(label, entry.getKey()), entry.getValue()))
                .toList();
    }
}
