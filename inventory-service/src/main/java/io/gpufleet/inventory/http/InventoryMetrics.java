package io.gpufleet.inventory.http;

import io.gpufleet.inventory.model.Census;
import io.gpufleet.inventory.model.Fleet;
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

/** What Prometheus is told: the fleet in numbers and what the fold counted. */
public final class InventoryMetrics {
    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final Supplier<Fleet> fleet;
    /** Micrometer refers to what it measures weakly: what nobody else holds would be measured as NaN soon. */
    private final List<Object> measured = new ArrayList<>();

    private final MultiGauge nodes;
    private final MultiGauge devices;

    /** Counts the newest image whenever it is scraped. */
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
                "silent nodes that are not called lost, because the bus is suspected",
                () -> suspected.get().size());
        new JvmMemoryMetrics().bindTo(registry);
        new ProcessorMetrics().bindTo(registry);
    }

    /** Adds something that only grows. */
    public void counter(String name, String description, LongSupplier value) {
        measured.add(value);
        FunctionCounter.builder(name, value, LongSupplier::getAsLong)
                .description(description)
                .register(registry);
    }

    /** Adds something that goes up and down. */
    public final void gauge(String name, String description, LongSupplier value) {
        measured.add(value);
        Gauge.builder(name, value, LongSupplier::getAsLong)
                .description(description)
                .register(registry);
    }

    /** Everything in Prometheus' text format. */
    public String scrape() {
        Census census = Census.of(fleet.get());
        nodes.register(rows("presence", census.presence()), true);
        devices.register(rows("health", census.devices()), true);
        return registry.scrape();
    }

    private static List<MultiGauge.Row<?>> rows(String label, Map<String, Integer> counts) {
        return counts.entrySet().stream()
                .<MultiGauge.Row<?>>map(entry -> MultiGauge.Row.of(Tags.of(label, entry.getKey()), entry.getValue()))
                .toList();
    }
}
