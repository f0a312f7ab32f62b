package io.gpufleet.nodedaemon.metrics;

import io.gpufleet.kit.lifecycle.BuildInfo;
import io.gpufleet.nodedaemon.app.NodeLoop;
import io.gpufleet.nodedaemon.app.NodeSnapshot;
import io.gpufleet.nodedaemon.app.counters.DaemonCounters;
import java.util.Map;

/** The daemon's own metrics. Written without a registry, which would cost megabytes. */
public final class DaemonMetricsPage {
    private static final String PREFIX = "gpufleet_daemon_";
    /** Help texts by name without the prefix; see {@link #help}. */
    private static final Map<String, String> HELP = Map.ofEntries(
            Map.entry("allocations_total", "Successful Allocate calls."),
            Map.entry("allocations_refused_total", "Rejected Allocate calls."),
            Map.entry("registrations_total", "Successful Register calls."),
            Map.entry("registration_failures_total", "Failed Register calls."),
            Map.entry("broker_connected", "1 while a producer is connected."),
            Map.entry("broker_unresolvable", "1 while no name in GPUFLEET_KAFKA can be resolved."),
            Map.entry("broker_connects_total", "Kafka producers created."),
            Map.entry("events_sent_total", "Events acknowledged by the broker."),
            Map.entry("events_rejected_total", "Events that the broker rejected permanently; skipped."),
            Map.entry("outbox_bytes", "Size of the outbox in bytes."),
            Map.entry("outbox_events_lost_total", "Events dropped by a full outbox."),
            Map.entry("outbox_disk_broken", "1 while events are kept in memory because the disk cannot be written."),
            Map.entry("verdicts_caught_up", "1 once the verdict partition was read to its end since the start."),
            Map.entry("kubelet_streams", "Open ListAndWatch streams."));

    private final PrometheusTextWriter writer = new PrometheusTextWriter(8192);

    /** Adds version and revision of the running build. */
    public DaemonMetricsPage build(BuildInfo build) {
        writer.family(BuildInfo.METRIC, "gauge", "1, with the version and the revision of this build.");
        writer.sample(
                BuildInfo.METRIC,
                MetricLabels.none()
                        .with("revision", build.revision())
                        .with("version", build.version())
                        .text(),
                1);
        return this;
    }

    /** Adds the daemon's counters and histograms. */
    public DaemonMetricsPage counters(DaemonCounters counters) {
        counters.sums().forEach((name, value) -> single(name, "counter", value));
        String allocation = PREFIX + "allocation_duration_seconds";
        writer.family(allocation, "histogram", "Duration of successful Allocate calls.");
        writer.histogram(allocation, "", counters.allocationLatency());
        String calls = PREFIX + "device_call_duration_seconds";
        writer.family(calls, "histogram", "Duration of one device scan or sample.");
        counters.deviceCalls().forEach((call, histogram) -> writer.histogram(calls, label("call", call), histogram));
        String changes = PREFIX + "device_health_changes_total";
        writer.family(changes, "counter", "Changes of a device's health as reported to the kubelet, by new health.");
        counters.offerChanges().forEach((to, count) -> writer.sample(changes, label("to", to), count));
        String faults = PREFIX + "faults_observed_total";
        writer.family(faults, "counter", "Observed faults, by name.");
        counters.faults().forEach((fault, count) -> writer.sample(faults, label("fault", fault), count));
        return this;
    }

    /** Adds the state of the node. */
    public DaemonMetricsPage node(NodeLoop.LoopStatus status, long nanos) {
        NodeSnapshot snapshot = status.snapshot();
        gauge("devices_listed", "Devices reported to the kubelet.", status.devices());
        gauge("devices_healthy", "Devices reported healthy to the kubelet.", status.healthy());
        gauge("faults_open", "Open faults.", snapshot.openFaults().size());
        gauge(
                "holders",
                "Containers that hold a device.",
                snapshot.holdings().holders().size());
        gauge(
                "holders_complete",
                "1 when the holders agree with the kubelet's checkpoint.",
                snapshot.holdings().complete() ? 1 : 0);
        if (!snapshot.samples().isEmpty()) {
            gauge("sample_age_seconds", "Age of the newest device sample.", (nanos - snapshot.sampledNanos()) / 1e9);
        }
        return this;
    }

    /** Adds metrics by name; those that end in {@code _total} are counters, others gauges. */
    public DaemonMetricsPage gauges(Map<String, Long> gauges) {
        gauges.forEach((name, value) -> single(name, name.endsWith("_total") ? "counter" : "gauge", value));
        return this;
    }

    /** The page as text. */
    public String text() {
        return writer.text();
    }

    private void single(String name, String type, double value) {
        writer.family(name, type, help(name));
        writer.sample(name, "", value);
    }

    private void gauge(String name, String help, double value) {
        writer.family(PREFIX + name, "gauge", help);
        writer.sample(PREFIX + name, "", value);
    }

    private static String help(String name) {
        String own = name.startsWith(PREFIX) ? name.substring(PREFIX.length()) : name;
        return HELP.getOrDefault(own, own.replace('_', ' '));
    }

    private static String label(String name, String value) {
        return MetricLabels.none().with(name, value).text();
    }
}
