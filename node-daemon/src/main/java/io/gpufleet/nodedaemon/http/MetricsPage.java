package io.gpufleet.nodedaemon.http;

import io.gpufleet.nodedaemon.app.Counters;
import io.gpufleet.nodedaemon.app.NodeLoop;
import java.util.Map;

/** The daemon's own metrics in Prometheus' text format; written by hand, since a registry costs megabytes. */
public final class MetricsPage {
    private final StringBuilder page = new StringBuilder(2048);

    /** What the daemon counts about itself. */
    public MetricsPage counters(Counters counters) {
        counters.sums().forEach((name, value) -> family(name, "counter", value));
        type("gpufleet_daemon_faults_observed_total", "counter");
        counters.faults()
                .forEach((fault, count) -> page.append("gpufleet_daemon_faults_observed_total{fault=\"")
                        .append(fault)
                        .append("\"} ")
                        .append(count)
                        .append('\n'));
        return this;
    }

    /** What the state of the node is. */
    public MetricsPage node(NodeLoop.Snapshot snapshot) {
        family("gpufleet_daemon_devices_listed", "gauge", snapshot.devices());
        family("gpufleet_daemon_devices_healthy", "gauge", snapshot.healthy());
        family("gpufleet_daemon_faults_open", "gauge", snapshot.openFaults().size());
        return this;
    }

    /** Further gauges, by name. */
    public MetricsPage gauges(Map<String, Long> gauges) {
        gauges.forEach((name, value) -> family(name, name.endsWith("_total") ? "counter" : "gauge", value));
        return this;
    }

    /** The page. */
    public String text() {
        return page.toString();
    }

    private void type(String name, String type) {
        page.append("# TYPE ").append(name).append(' ').append(type).append('\n');
    }

    private void family(String name, String type, long value) {
        type(name, type);
        page.append(name).append(' ').append(value).append('\n');
    }
}
