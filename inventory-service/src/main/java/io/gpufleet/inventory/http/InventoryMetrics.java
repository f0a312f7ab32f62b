package io.gpufleet.inventory.http;

import io.gpufleet.inventory.model.Fleet;
import io.gpufleet.inventory.model.query.FleetSummary;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** The metrics page: counts of the fleet, the projection and the JVM. */
public final class InventoryMetrics {
    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final Supplier<Fleet> fleet;
    /** Micrometer references measured objects weakly; one that is collected is measured as NaN. */
    private final List<Object> measured = new ArrayList<>();

    private final MultiGauge nodes;
    private final MultiGauge devices;

    /** Metrics of the newest fleet at each scrape. */
    public InventoryMetrics(Supplier<Fleet> fleet, Supplier<List<String>> suspected) {
        this.fleet = fleet;
        this.nodes = MultiGauge.builder("gpufleet_nodes")
                .description("announced nodes")
                .register(registry);
        this.devices = MultiGauge.builder("gpufleet_devices")
                .description("announced GPUs")
                .register(registry);
        gauge(
                "gpufleet_silent_nodes",
                "silent nodes not declared lost because the bus is suspected",
                () -> suspected.get().size());
        new JvmMemoryMetrics().bindTo(registry);
        new ProcessorMetrics().bindTo(registry);
    }

    /** Registers a monotonic counter. */
    public void counter(String name, String description, LongSupplier value) {
        measured.add(value);
        FunctionCounter.builder(name, value, LongSupplier::getAsLong)
                .description(description)
                .register(registry);
    }

    /** Registers a gauge. */
    public final void gauge(String name, String description, LongSupplier value) {
        measured.add(value);
        Gauge.builder(name, value, LongSupplier::getAsLong)
                .description(description)
                .register(registry);
    }

    /** All metrics in the text format of Prometheus. */
    public String scrape() {
        FleetSummary summary = FleetSummary.of(fleet.get());
        nodes.register(rows("presence", summary.presence()), true);
        devices.register(rows("health", summary.devices()), true);
        return registry.scrape();
    }

    private static List<MultiGauge.Row<?>> rows(String label, Map<String, Integer> counts) {
        return counts.entrySet().stream()
                .<MultiGauge.Row<?>>map(entry -> MultiGauge.Row.of(Tags.of(label, entry.getKey()), entry.getValue()))
                .toList();
    }
}
