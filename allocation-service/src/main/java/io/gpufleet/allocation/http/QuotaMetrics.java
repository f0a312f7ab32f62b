package io.gpufleet.allocation.http;

import io.gpufleet.allocation.app.quota.QuotaView;
import io.gpufleet.allocation.app.quota.QuotaView.LimitView;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Limit, usage and escrow of each limit of each quota that this replica leads, by the labels {@code quota} and {@code limit};
 * in what the limit counts, GPUs or devices. Every quota is led by one replica, so that nothing is exported twice.
 */
final class QuotaMetrics implements MultiCollector {
    private static final Logger LOG = LoggerFactory.getLogger(QuotaMetrics.class);
    /** A scrape does not wait longer for the decider, and is without these metrics then. */
    private static final long MAX_WAIT_MILLIS = 2_000;

    private final Supplier<CompletionStage<List<QuotaView>>> quotas;

    QuotaMetrics(Supplier<CompletionStage<List<QuotaView>>> quotas) {
        this.quotas = quotas;
    }

    @Override
    public MetricSnapshots collect() {
        List<QuotaView> led = views().stream().filter(QuotaView::leader).toList();
        return MetricSnapshots.of(
                gauge(
                        led,
                        "gpufleet_quota_limit",
                        "Maximum of a limit of a quota.",
                        row -> row.limit().max()),
                gauge(
                        led,
                        "gpufleet_quota_used",
                        "What counts against a limit of a quota.",
                        row -> row.used().used().number().doubleValue()),
                gauge(
                        led,
                        "gpufleet_quota_escrow",
                        "What another leader would count as used for 70 s after a take-over.",
                        LimitView::escrow));
    }

    private List<QuotaView> views() {
        try {
            return quotas.get().toCompletableFuture().get(MAX_WAIT_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException failed) {
            LOG.atDebug().addKeyValue("error", failed).log("quotas are not among the metrics");
        }
        return List.of();
    }

    private static GaugeSnapshot gauge(
            List<QuotaView> views, String name, String help, ToDoubleFunction<LimitView> value) {
        var gauge = GaugeSnapshot.builder().name(name).help(help);
        for (QuotaView view : views) {
            for (LimitView row : view.limits()) {
                gauge.dataPoint(GaugeSnapshot.GaugeDataPointSnapshot.builder()
                        .labels(Labels.of(
                                "quota", view.name(), "limit", row.limit().id()))
                        .value(value.applyAsDouble(row))
                        .build());
            }
        }
        return gauge.build();
    }
}
