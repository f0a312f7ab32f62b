package io.gpufleet.nodedaemon.metrics;

import io.gpufleet.nodedaemon.app.NodeSnapshot;
import io.gpufleet.nodedaemon.app.counters.FaultOccurrenceCounters;
import io.gpufleet.nodedaemon.model.allocation.OfferedDevice;
import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.device.KnownGpu;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/** Health of each GPU as reported to the kubelet, and its faults. These series have no pod labels and never end. */
public final class GpuHealthMetricsPage {
    private final PrometheusTextWriter writer = new PrometheusTextWriter(8192);
    private final NodeSnapshot snapshot;
    private final List<Gpu> gpus;

    private GpuHealthMetricsPage(NodeSnapshot snapshot) {
        this.snapshot = snapshot;
        this.gpus = snapshot.devices().gpus().stream().map(KnownGpu::gpu).toList();
    }

    /** Renders the page. */
    public static String render(NodeSnapshot snapshot, FaultOccurrenceCounters faultCounters, long nanos) {
        var page = new GpuHealthMetricsPage(snapshot);
        if (page.gpus.isEmpty()) {
            return "";
        }
        page.offers();
        page.faults(faultCounters, nanos);
        return page.writer.text();
    }

    private static String labels(Gpu gpu) {
        return MetricLabels.none()
                .with("gpu", Integer.toString(gpu.index()))
                .with("UUID", gpu.uuid())
                .text();
    }

    private void offers() {
        var byResource = new LinkedHashMap<String, List<OfferedDevice>>();
        for (OfferedDevice offer : snapshot.offers().listed().values()) {
            String labels = MetricLabels.after(labels(offer.gpu()))
                    .with("resource", offer.resource())
                    .text();
            byResource.computeIfAbsent(labels, _ -> new ArrayList<>()).add(offer);
        }
        count("gpufleet_gpu_devices_listed", "Devices of the GPU reported to the kubelet.", byResource, _ -> true);
        count(
                "gpufleet_gpu_devices_healthy",
                "Devices of the GPU reported healthy.",
                byResource,
                OfferedDevice::healthy);
        count(
                "gpufleet_gpu_devices_locally_healthy",
                "Devices of the GPU without a local fault.",
                byResource,
                device -> device.health().locallyHealthy());
        count(
                "gpufleet_gpu_devices_allowed_by_verdict",
                "Devices of the GPU trusted by the health-service's verdict.",
                byResource,
                device -> device.health().overlayAllows());
    }

    private void count(
            String name, String help, Map<String, List<OfferedDevice>> byLabels, Predicate<OfferedDevice> which) {
        writer.family(name, "gauge", help);
        byLabels.forEach((labels, offers) ->
                writer.sample(name, labels, offers.stream().filter(which).count()));
    }

    /** The total starts at 0 for every GPU: a series that starts with the first fault would hide it from rates. */
    private void faults(FaultOccurrenceCounters faultCounters, long nanos) {
        String open = "gpufleet_gpu_faults_open";
        writer.family(open, "gauge", "Open faults of the GPU.");
        gpus.forEach(gpu -> writer.sample(
                open,
                labels(gpu),
                snapshot.openFaults().stream()
                        .filter(fault -> fault.key().gpuUuid().equals(gpu.uuid()))
                        .count()));
        String all = "gpufleet_gpu_faults_observed_total";
        writer.family(all, "counter", "Observations of faults since the start of the daemon; repeats count.");
        gpus.forEach(gpu -> writer.sample(
                all, labels(gpu), faultCounters.read(gpu.uuid(), nanos).faults()));
        String xids = "gpufleet_gpu_xid_errors_total";
        writer.family(xids, "counter", "Observed XIDs, by code; repeats count.");
        gpus.forEach(gpu -> faultCounters
                .read(gpu.uuid(), nanos)
                .xids()
                .forEach((xid, count) -> writer.sample(
                        xids,
                        MetricLabels.after(labels(gpu))
                                .with("xid", Integer.toString(xid))
                                .text(),
                        count)));
    }
}
