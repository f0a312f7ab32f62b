package io.gpufleet.health.http;

import io.gpufleet.health.app.NodeStateStore;
import io.gpufleet.health.app.ReconcileCounters;
import io.gpufleet.health.app.ShadowPolicy;
import io.gpufleet.health.app.VerdictToNodeLatency;
import io.gpufleet.health.model.budget.Mode;
import io.gpufleet.health.model.device.HealthState;
import io.gpufleet.kit.lifecycle.BuildInfo;
import io.gpufleet.runtime.bus.LatencyTimer;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.prometheus.metrics.core.metrics.Info;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

/** Metrics of the service in Prometheus' text format. */
public final class HealthMetrics {
    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final NodeStateStore store;
    private final MultiGauge devices;

    /** Registers the metrics of the store, the reconciler, the mode and the JVM. */
    public HealthMetrics(NodeStateStore store, ReconcileCounters counters, Mode mode) {
        new JvmMemoryMetrics().bindTo(registry);
        new ProcessorMetrics().bindTo(registry);
        registerBuild(BuildInfo.current());
        Gauge.builder("gpufleet_nodes", store, nodes -> nodes.nodes().size())
                .description("known nodes")
                .register(registry);
        this.store = store;
        this.devices = MultiGauge.builder("gpufleet_devices")
                .description("devices by state")
                .register(registry);
        Gauge.builder(
                        "gpufleet_held_back",
                        store,
                        nodes -> nodes.nodes().stream()
                                .mapToInt(state -> state.heldBack().size())
                                .sum())
                .description("taints and withdrawals that mode observe or a budget holds back")
                .register(registry);
        Gauge.builder("gpufleet_observe_mode", () -> mode == Mode.OBSERVE ? 1 : 0)
                .description("1 where GPUFLEET_MODE is observe: decisions are recorded and not carried out, else 0")
                .register(registry);
        counter("gpufleet_node_patches", "Node patches applied", counters, ReconcileCounters::patches);
        counter("gpufleet_condition_patches", "condition patches applied", counters, ReconcileCounters::conditions);
        counter(
                "gpufleet_node_patches_conflicts",
                "Node patches retried after 409",
                counters,
                ReconcileCounters::conflicts);
        counter(
                "gpufleet_node_patches_failures",
                "Node calls rejected or not answered",
                counters,
                ReconcileCounters::failures);
        counter(
                "gpufleet_node_patches_foreign",
                "foreign taints, labels or annotations in place of ours",
                counters,
                ReconcileCounters::foreign);
    }

    private void registerBuild(BuildInfo build) {
        // Micrometer removes the suffix _info from the name of a gauge.
        Info.builder()
                .name(BuildInfo.METRIC)
                .help("version and Git revision of this build")
                .labelNames("version", "revision")
                .register(registry.getPrometheusRegistry())
                .setLabelValues(build.version(), build.revision());
    }

    private void counter(
            String name, String description, ReconcileCounters counters, ToLongFunction<ReconcileCounters> value) {
        FunctionCounter.builder(name, counters, value::applyAsLong)
                .description(description)
                .register(registry);
    }

    /** Histograms of the hops of a verdict to its Node. */
    public VerdictToNodeLatency.Recorder patchTimings() {
        var timers = new EnumMap<VerdictToNodeLatency.Hop, Timer>(VerdictToNodeLatency.Hop.class);
        for (VerdictToNodeLatency.Hop hop : VerdictToNodeLatency.Hop.values()) {
            timers.put(
                    hop,
                    LatencyTimer.register(
                            registry,
                            "gpufleet_node_patch_hop",
                            "time of a verdict in one hop of its way to the patched Node",
                            "hop",
                            hop.name().toLowerCase(Locale.ROOT)));
        }
        return (hop, time) -> timers.computeIfPresent(hop, (_, timer) -> {
            timer.record(time);
            return timer;
        });
    }

    /** Counts what only one of the policy in force and a shadow policy decides. */
    public void shadow(ShadowPolicy shadow) {
        onlyOne("policy", shadow, ShadowPolicy::onlyPolicy);
        onlyOne("shadow", shadow, ShadowPolicy::onlyShadow);
    }

    private void onlyOne(String which, ShadowPolicy shadow, ToDoubleFunction<ShadowPolicy> count) {
        FunctionCounter.builder("gpufleet_shadow_differences", shadow, count)
                .description(
                        "decisions since the start that only the policy in force, or only the shadow policy, reached")
                .tag("only", which)
                .register(registry);
    }

    /** The registry, for figures of other parts. */
    public MeterRegistry registry() {
        return registry;
    }

    /** All metrics as text. */
    public String scrape() {
        devices.register(rows(store.devicesByState()), true);
        return registry.scrape();
    }

    private static List<MultiGauge.Row<?>> rows(Map<HealthState, Long> counts) {
        return counts.entrySet().stream()
                .<MultiGauge.Row<?>>map(entry -> MultiGauge.Row.of(
                        Tags.of("state", entry.getKey().name().toLowerCase(Locale.ROOT)), entry.getValue()))
                .toList();
    }
}
