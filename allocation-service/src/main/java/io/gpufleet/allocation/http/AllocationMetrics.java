package io.gpufleet.allocation.http;

import io.gpufleet.allocation.app.LedgerBook;
import io.gpufleet.allocation.model.ledger.NodeLedger;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.function.ToIntFunction;

/** What Prometheus is told: the ledger in numbers and what the fold counted. */
public final class AllocationMetrics {
    // Micrometer holds what it counts by weak references only.
    private final List<LongSupplier> counted = new ArrayList<>();
    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

    /** Counts the ledger whenever it is scraped. */
    public AllocationMetrics(LedgerBook book) {
        gauge(
                "gpufleet_held_devices",
                "devices and shares that are held",
                () -> sum(book, node -> node.open().size()));
        gauge(
                "gpufleet_pending_allocations",
                "answered Allocates that wait for their holder",
                () -> sum(book, node -> node.pending().size()));
        new JvmMemoryMetrics().bindTo(registry);
        new ProcessorMetrics().bindTo(registry);
    }

    private static long sum(LedgerBook book, ToIntFunction<NodeLedger> count) {
        return book.all().values().stream().mapToInt(count).sum();
    }

    /** Adds something that only grows. */
    public void counter(String name, String description, LongSupplier value) {
        counted.add(value);
        FunctionCounter.builder(name, value, LongSupplier::getAsLong)
                .description(description)
                .register(registry);
    }

    /** Adds something that goes up and down. */
    public void gauge(String name, String description, LongSupplier value) {
        counted.add(value);
        Gauge.builder(name, value, LongSupplier::getAsLong)
                .description(description)
                .register(registry);
    }

    /** Everything in Prometheus' text format. */
    public String scrape() {
        return registry.scrape();
    }
}
