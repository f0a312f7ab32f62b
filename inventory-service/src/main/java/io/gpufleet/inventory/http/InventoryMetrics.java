package io.gpufleet.inventory.http;

import io.gpufleet.inventory.model.query.FleetSummary;
import io.gpufleet.kit.lifecycle.BuildInfo;
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
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/** The metrics page: counts of the fleet, the projection and the JVM. */
public final class InventoryMetrics {
    /** Always exported, so that an alert on one of them has a series before the first node is lost. */
    private static final List<String> PRESENCES = List.of("present", "departed", "lost", FleetSummary.SUSPECTED);

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final Supplier<FleetSummary> fleet;
    private final IntSupplier differing;
    private final BooleanSupplier active;

    private final MultiGauge nodes;
    private final MultiGauge devices;
    private final MultiGauge labelDifferences;

    /**
     * Metrics of the newest counts at each scrape. A standby exports none of the fleet, as sums would count it twice.
     *
     * @param differing number of Nodes that lack desired labels in mode observe
     */
    public InventoryMetrics(Supplier<FleetSummary> fleet, IntSupplier differing, BooleanSupplier active) {
        this.fleet = fleet;
        this.differing = differing;
        this.active = active;
        this.nodes = MultiGauge.builder("gpufleet_nodes")
                .description("announced nodes, exported by the active replica")
                .register(registry);
        this.devices = MultiGauge.builder("gpufleet_devices")
                .description("announced GPUs, exported by the active replica")
                .register(registry);
        this.labelDifferences = MultiGauge.builder("gpufleet_label_differences")
                .description("Nodes that lack desired labels while none is written, exported by the active replica")
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
        if (active.getAsBoolean()) {
            FleetSummary summary = fleet.get();
            var byPresence = new TreeMap<>(summary.presence());
            PRESENCES.forEach(presence -> byPresence.putIfAbsent(presence, 0));
            nodes.register(rows("presence", byPresence), true);
            devices.register(rows("health", summary.devices()), true);
            labelDifferences.register(List.of(MultiGauge.Row.of(Tags.empty(), differing.getAsInt())), true);
        } else {
            nodes.register(List.of(), true);
            devices.register(List.of(), true);
            labelDifferences.register(List.of(), true);
        }
        return registry.scrape();
    }

    private static List<MultiGauge.Row<?>> rows(String label, Map<String, Integer> counts) {
        return counts.entrySet().stream()
                .<MultiGauge.Row<?>>map(entry -> MultiGauge.Row.of(Tags.of(label, entry.getKey()), entry.getValue()))
                .toList();
    }
}
