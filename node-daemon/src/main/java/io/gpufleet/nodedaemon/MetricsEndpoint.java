package io.gpufleet.nodedaemon;

import io.gpufleet.kit.lifecycle.BuildInfo;
import io.gpufleet.nodedaemon.app.NodeLoop;
import io.gpufleet.nodedaemon.app.counters.DaemonCounters;
import io.gpufleet.nodedaemon.deviceplugin.DevicePluginEndpoints;
import io.gpufleet.nodedaemon.kafka.EventPublisher;
import io.gpufleet.nodedaemon.kafka.PublisherStatus;
import io.gpufleet.nodedaemon.kafka.VerdictConsumer;
import io.gpufleet.nodedaemon.metrics.DaemonMetricsPage;
import io.gpufleet.nodedaemon.metrics.DcgmMetricsPage;
import io.gpufleet.nodedaemon.metrics.GpuHealthMetricsPage;
import io.gpufleet.nodedaemon.metrics.ProcessMetricsPage;
import io.gpufleet.nodedaemon.state.IgnoreVerdictsFile;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongSupplier;

/** The page {@code /metrics}, from the parts of a daemon. */
record MetricsEndpoint(
        String node,
        DaemonCounters counters,
        NodeLoop loop,
        EventPublisher publisher,
        VerdictConsumer verdictConsumer,
        IgnoreVerdictsFile ignoreVerdictsFile,
        DevicePluginEndpoints devicePlugins,
        LongSupplier kernelLogOverruns) {
    private static final BuildInfo BUILD = BuildInfo.current();

    String text() {
        NodeLoop.LoopStatus status = loop.status();
        long nanos = System.nanoTime();
        return DcgmMetricsPage.render(status.snapshot(), counters.faultCounters(), node, nanos)
                + GpuHealthMetricsPage.render(status.snapshot(), counters.faultCounters(), nanos)
                + ProcessMetricsPage.render(status.snapshot(), nanos)
                + new DaemonMetricsPage()
                        .build(BUILD)
                        .counters(counters)
                        .node(status, nanos)
                        .gauges(gauges())
                        .text();
    }

    private Map<String, Long> gauges() {
        PublisherStatus events = publisher.status();
        Map<String, Long> gauges = new TreeMap<>();
        gauges.put("gpufleet_daemon_broker_connected", events.connected() ? 1L : 0L);
        gauges.put("gpufleet_daemon_broker_unresolvable", events.unresolvable() ? 1L : 0L);
        gauges.put("gpufleet_daemon_broker_connects_total", events.attempts());
        gauges.put("gpufleet_daemon_events_sent_total", events.sent());
        gauges.put("gpufleet_daemon_events_rejected_total", events.rejected());
        gauges.put("gpufleet_daemon_outbox_bytes", events.outboxBytes());
        gauges.put("gpufleet_daemon_outbox_events_lost_total", events.lost());
        gauges.put("gpufleet_daemon_outbox_disk_broken", events.diskBroken() ? 1L : 0L);
        gauges.put("gpufleet_daemon_verdicts_caught_up", verdictConsumer.caughtUp() ? 1L : 0L);
        gauges.put("gpufleet_daemon_verdicts_ignored", ignoreVerdictsFile.active() ? 1L : 0L);
        gauges.put("gpufleet_daemon_kernel_log_overruns_total", kernelLogOverruns.getAsLong());
        gauges.put("gpufleet_daemon_kubelet_streams", (long) devicePlugins.openStreams());
        return gauges;
    }
}
