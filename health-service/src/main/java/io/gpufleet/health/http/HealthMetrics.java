package io.gpufleet.health.http;

import io.gpufleet.health.app.HealthCore;
import io.gpufleet.health.app.ReconcileCounters;
import io.gpufleet.health.model.DeviceHealth;
import io.gpufleet.health.model.HealthState;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/** The service's metrics in Prometheus' text format. */
public final class HealthMetrics {
    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

    /** Metrics of state and of the reconciler. */
    public HealthMetrics(HealthCore core, ReconcileCounters reconciled) {
        new JvmMemoryMetrics().bindTo(registry);
        new ProcessorMetrics().bindTo(registry);
        Gauge.builder("gpufleet_nodes", core, nodes -> nodes.nodes().size())
                .description("nodes known")
                .register(registry);
        for (HealthState state : HealthState.values()) {
            Gauge.builder("gpufleet_devices", core, nodes -> devices(nodes, state))
                    .description("devices by state")
                    .tag("state", state.name().toLowerCase(Locale.ROOT))
                    .register(registry);
        }
        counter("gpufleet_marks_patches", "patches of marks taken", reconciled, ReconcileCounters::patches);
        counter("gpufleet_condition_patches", "patches of the condition", reconciled, ReconcileCounters::conditions);
        counter("gpufleet_marks_conflicts", "patches made anew after 409", reconciled, ReconcileCounters::conflicts);
        counter("gpufleet_marks_failures", "calls refused or not answered", reconciled, ReconcileCounters::failures);
        counter("gpufleet_marks_foreign", "marks of others in our place", reconciled, ReconcileCounters::foreign);
    }

    /** One more counter, read when it is scraped; the name is without the {@code _total} at its end. */
    public <T> void counter(String name, String about, T source, ToDoubleFunction<T> value) {
        FunctionCounter.builder(name, source, value).description(about).register(registry);
    }

    /** One more gauge, read when it is scraped. */
    public <T> void gauge(String name, String about, T source, ToDoubleFunction<T> value) {
        Gauge.builder(name, source, value)
                .description(about)
                .strongReference(true)
                .register(registry);
    }

    /** What is scraped. */
    public String scrape() {
        return registry.scrape();
    }

    private static double devices(HealthCore core, HealthState state) {
        return core.nodes().stream()
                .flatMap(node -> node.devices().values().stream())
                .map(device -> device.health())
                .map(DeviceHealth::state)
                .filter(state::equals)
                .count();
    }
}
