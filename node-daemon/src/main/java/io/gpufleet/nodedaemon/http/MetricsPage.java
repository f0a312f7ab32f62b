package io.gpufleet.nodedaemon.http;

import io.gpufleet.nodedaemon.app.Counters;
import io.gpufleet.nodedaemon.app.NodeLoop;
import io.gpufleet.nodedaemon.model.Readout;
import java.util.Map;

/** The daemon's own metrics; written by hand, since a registry costs megabytes. */
public final class MetricsPage {
    private static final String PREFIX = "gpufleet_daemon_";
    /** What the names do not say by themselves; see {@link #help}. */
    private static final Map<String, String> HELP = Map.ofEntries(
            Map.entry("allocations_total", "Calls of Allocate that were granted."),
            Map.entry("allocations_refused_total", "Calls of Allocate that were refused."),
            Map.entry("registrations_total", "Calls of Register that the kubelet answered."),
            Map.entry("registration_failures_total", "Calls of Register that failed."),
            Map.entry("bus_connected", "1 while the broker answers."),
            Map.entry("bus_connects_total", "Producers that were begun."),
            Map.entry("bus_events_sent_total", "Events that the broker acknowledged."),
            Map.entry("bus_events_refused_total", "Events that the broker refused for good; set aside."),
            Map.entry("outbox_bytes", "Bytes of events that wait for the broker."),
            Map.entry("outbox_events_lost_total", "Events that a full outbox dropped."),
            Map.entry("outbox_disk_broken", "1 while events are kept in memory because the disk refuses them."),
            Map.entry("verdicts_caught_up", "1 once the verdicts were read to their end since the start."),
            Map.entry("kubelet_streams", "ListAndWatch streams that kubelets hold open."));

    private final TextPage page = new TextPage(8192);

    /** What the daemon counts about itself. */
    public MetricsPage counters(Counters counters) {
        counters.sums().forEach((name, value) -> single(name, "counter", value));
        String allocation = PREFIX + "allocation_duration_seconds";
        page.family(allocation, "histogram", "How long Allocate took where it was granted.");
        page.histogram(allocation, "", counters.allocationLatency());
        String calls = PREFIX + "device_call_duration_seconds";
        page.family(calls, "histogram", "How long the driver took to answer all that one look or one poll asks.");
        counters.deviceCalls().forEach((call, histogram) -> page.histogram(calls, label("call", call), histogram));
        String offers = PREFIX + "offer_changes_total";
        page.family(offers, "counter", "Changes of what the kubelet is told of a GPU, by what it was told.");
        counters.offerChanges().forEach((to, count) -> page.sample(offers, label("to", to), count));
        String faults = PREFIX + "faults_observed_total";
        page.family(faults, "counter", "Faults that were observed, by name.");
        counters.faults().forEach((fault, count) -> page.sample(faults, label("fault", fault), count));
        return this;
    }

    /** What the state of the node is. */
    public MetricsPage node(NodeLoop.Snapshot snapshot, long nanos) {
        Readout readout = snapshot.readout();
        gauge("devices_listed", "Devices that the kubelet is told of.", snapshot.devices());
        gauge("devices_healthy", "Those of them that may be handed out.", snapshot.healthy());
        gauge("faults_open", "Faults that are open.", readout.openFaults().size());
        gauge(
                "holders",
                "Containers that hold a device.",
                readout.holdings().holders().size());
        gauge(
                "holders_complete",
                "1 when the holders agree with the kubelet's own book.",
                readout.holdings().complete() ? 1 : 0);
        if (!readout.vitals().isEmpty()) {
            gauge(
                    "vitals_age_seconds",
                    "How long ago the devices last said how they are.",
                    (nanos - readout.vitalsNanos()) / 1e9);
        }
        return this;
    }

    /** Further figures by name; those that end in {@code _total} are counters. */
    public MetricsPage gauges(Map<String, Long> gauges) {
        gauges.forEach((name, value) -> single(name, name.endsWith("_total") ? "counter" : "gauge", value));
        return this;
    }

    /** The page. */
    public String text() {
        return page.text();
    }

    private void single(String name, String type, double value) {
        page.family(name, type, help(name));
        page.sample(name, "", value);
    }

    private void gauge(String name, String help, double value) {
        page.family(PREFIX + name, "gauge", help);
        page.sample(PREFIX + name, "", value);
    }

    private static String help(String name) {
        String own = name.startsWith(PREFIX) ? name.substring(PREFIX.length()) : name;
        return HELP.getOrDefault(own, own.replace('_', ' '));
    }

    private static String label(String name, String value) {
        return Labels.none().with(name, value).text();
    }
}
