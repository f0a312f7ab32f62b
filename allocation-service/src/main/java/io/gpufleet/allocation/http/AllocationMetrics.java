package io.gpufleet.allocation.http;

import io.gpufleet.allocation.app.Ledger;
import io.gpufleet.allocation.app.quota.QuotaView;
import io.gpufleet.allocation.app.quota.ReviewTimings;
import io.gpufleet.kit.lifecycle.BuildInfo;
import io.gpufleet.runtime.bus.LatencyTimer;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.prometheus.metrics.core.metrics.Info;
import java.time.Instant;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** Metrics of the service in Prometheus' text format. */
public final class AllocationMetrics {
    /** Held here: a counter refers to its object weakly, and would stay as it was once that is collected. */
    private final LongSupplier failures;

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

    /** Registers the meters of the ledger, the quota leader, the build and the JVM. */
    public AllocationMetrics(Ledger ledger, BooleanSupplier isLeader, LongSupplier failures, BuildInfo build) {
        this.failures = failures;
        gauge(
                "gpufleet_quota_leader",
                "1 on the replica that leads the quotas, else 0.",
                () -> isLeader.getAsBoolean() ? 1 : 0);
        gauge(
                "gpufleet_held_devices",
                "Devices and shares that have a holder.",
                () -> ledger.sum(node -> node.open().size()));
        gauge(
                "gpufleet_pending_allocations",
                "Answered Allocate calls whose holder is not known yet.",
                () -> ledger.sum(node -> node.pending().size()));
        FunctionCounter.builder("gpufleet_quota_decider_failures", this, metrics -> metrics.failures.getAsLong())
                .description("Requests and observations that failed in the quota decider.")
                .register(registry);
        // Not by Micrometer, which strips "_info" from the name.
        Info.builder()
                .name(BuildInfo.METRIC)
                .help("Version and revision of this program; always 1.")
                .labelNames("version", "revision")
                .register(registry.getPrometheusRegistry())
                .setLabelValues(build.version(), build.revision());
        new JvmMemoryMetrics().bindTo(registry);
        new ProcessorMetrics().bindTo(registry);
    }

    /** Registers limit, usage and escrow of the quotas that this replica leads. */
    public void quotas(Supplier<CompletionStage<List<QuotaView>>> views) {
        registry.getPrometheusRegistry().register(new QuotaMetrics(views));
    }

    /** Histograms of the stages of a review. */
    public ReviewTimings reviewTimings() {
        var timers = new EnumMap<ReviewTimings.Stage, Timer>(ReviewTimings.Stage.class);
        for (ReviewTimings.Stage stage : ReviewTimings.Stage.values()) {
            timers.put(
                    stage,
                    LatencyTimer.register(
                            registry,
                            "gpufleet_quota_review",
                            "Time of a review of the webhook in one stage of its way to a decision.",
                            "stage",
                            stage.name().toLowerCase(Locale.ROOT)));
        }
        return (stage, time) -> Objects.requireNonNull(timers.get(stage)).record(time);
    }

    /** Registers when the certificate of the webhook expires, as seconds since 1970; NaN before there is one. */
    public void webhookCertificate(Supplier<Optional<Instant>> expiry) {
        gauge(
                "gpufleet_webhook_certificate_expiry_timestamp_seconds",
                "When the certificate that the webhook serves expires, in seconds since 1970.",
                () -> expiry.get()
                        .map(Instant::getEpochSecond)
                        .map(Double::valueOf)
                        .orElse(Double.NaN));
    }

    /** A gauge of a supplier is referenced strongly; of an object it would vanish with it. */
    private void gauge(String name, String description, Supplier<Number> value) {
        Gauge.builder(name, value).description(description).register(registry);
    }

    /** Where further meters are registered. */
    public MeterRegistry registry() {
        return registry;
    }

    /** Values of all meters, as text. */
    public String scrape() {
        return registry.scrape();
    }
}
