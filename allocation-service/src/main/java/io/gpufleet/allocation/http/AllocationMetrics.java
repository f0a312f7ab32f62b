package io.gpufleet.allocation.http;

import io.gpufleet.allocation.app.Ledger;
import io.gpufleet.allocation.model.ledger.NodeLedger;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.ToIntFunction;

/** Metrics of the service in Prometheus' text format. */
public final class AllocationMetrics {
    // Strong references: Micrometer keeps weak ones only.
    private final List<LongSupplier> suppliers = new ArrayList<>();
    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

    /** Registers the meters of the ledger, the quota leader and the JVM. */
    public AllocationMetrics(Ledger ledger, BooleanSupplier isLeader) {
        register(
                "gpufleet_quota_leader",
                "1 on the replica that leads the quotas, else 0.",
                false,
                () -> isLeader.getAsBoolean() ? 1 : 0);
        register(
                "gpufleet_held_devices",
                "Devices and shares that have a holder.",
                false,
                () -> sum(ledger, node -> node.open().size()));
        register(
                "gpufleet_pending_allocations",
                "Answered Allocate calls whose holder is not known yet.",
                false,
                () -> sum(ledger, node -> node.pending().size()));
        new JvmMemoryMetrics().bindTo(registry);
        new ProcessorMetrics().bindTo(registry);
    }

    private static long sum(Ledger ledger, ToIntFunction<NodeLedger> count) {
        return ledger.all().values().stream().mapToInt(count).sum();
    }

    /** Registers a meter: a counter where its value only grows, else a gauge. */
    public void register(String name, String description, boolean monotonic, LongSupplier value) {
        suppliers.add(value);
        if (monotonic) {
            FunctionCounter.builder(name, value, LongSupplier::getAsLong)
                    .description(description)
                    .register(registry);
        } else {
            Gauge.builder(name, value, LongSupplier::getAsLong)
                    .description(description)
                    .register(registry);
        }
    }

    /** Values of all meters, as text. */
    public String scrape() {
        return registry.scrape();
    }
}
