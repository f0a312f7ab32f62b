package io.gpufleet.nodedaemon.metrics;

import io.gpufleet.nodedaemon.app.NodeSnapshot;
import io.gpufleet.nodedaemon.app.counters.FaultOccurrenceCounters;
import io.gpufleet.nodedaemon.app.counters.FaultOccurrenceCounters.GpuFaultCounts;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.device.KnownGpu;
import io.gpufleet.nodedaemon.model.fault.OpenFault;
import io.gpufleet.xid.Xid;
import io.gpufleet.xid.XidCatalogue;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The metrics of the GPUs with the names of dcgm-exporter, from the newest sample. */
public final class DcgmMetricsPage {
    /** Older samples have no series: a gap means unknown, a flat line would mean unchanged. */
    private static final Duration MAX_AGE = Duration.ofSeconds(60);

    private static final int BYTES_PER_GPU = 20_000;
    private static final String[] CLOCK_EVENTS = {
        "gpu_idle",
        "clocks_setting",
        "power_cap",
        "hw_slowdown",
        "sync_boost",
        "sw_thermal",
        "hw_thermal",
        "hw_power_brake",
        "display_clocks"
    };

    private final List<GpuSeries> gpus;
    private final Map<String, GpuFaultCounts> faultCountsByGpu = new HashMap<>();
    private final List<OpenFault> openFaults;
    private final PrometheusTextWriter writer;

    private DcgmMetricsPage(NodeSnapshot snapshot, FaultOccurrenceCounters faultCounts, String hostname, long nanos) {
        var samples = new HashMap<String, GpuSample>();
        if (!isStale(snapshot, nanos)) {
            snapshot.samples().forEach(its -> samples.put(its.gpuUuid(), its));
        }
        var holders = new HoldersByDevice(snapshot.holdings());
        String driver = switch (snapshot.devices().lastScan()) {
            case DeviceScan.ScanSucceeded seen -> seen.driverVersion();
            case DeviceScan.ScanFailed _ -> "";
        };
        gpus = snapshot.devices().gpus().stream()
                .map(KnownGpu::gpu)
                .map(gpu -> GpuSeries.of(
                        gpu, labels(gpu, hostname, driver), Optional.ofNullable(samples.get(gpu.uuid())), holders))
                .toList();
        gpus.forEach(gpu -> faultCountsByGpu.put(
                gpu.gpu().uuid(), faultCounts.read(gpu.gpu().uuid(), nanos)));
        openFaults = snapshot.openFaults();
        writer = new PrometheusTextWriter(BYTES_PER_GPU * gpus.size());
    }

    /** Whether the newest sample is too old. */
    static boolean isStale(NodeSnapshot snapshot, long nanos) {
        return Duration.ofNanos(nanos - snapshot.sampledNanos()).compareTo(MAX_AGE) > 0;
    }

    /** Renders the page; does not block. */
    public static String render(
            NodeSnapshot snapshot, FaultOccurrenceCounters faultCounts, String hostname, long nanos) {
        return new DcgmMetricsPage(snapshot, faultCounts, hostname, nanos).text();
    }

    /** Sets both the newer {@code hostname} and the older {@code Hostname}, so that both kinds of queries match. */
    private static String labels(Gpu gpu, String hostname, String driver) {
        return MetricLabels.none()
                .with("gpu", Integer.toString(gpu.index()))
                .with("UUID", gpu.uuid())
                .with("pci_bus_id", gpu.pciBusId())
                .with("device", "nvidia" + gpu.identifiers().minor())
                .with("modelName", gpu.model())
                .with("hostname", hostname)
                .with("Hostname", hostname)
                .with("DCGM_FI_DRIVER_VERSION", driver)
                .text();
    }

    private String text() {
        if (gpus.isEmpty()) {
            return "";
        }
        for (DcgmField field : DcgmFields.ALL) {
            writer.family(field.name(), field.kind().type(), field.help());
            for (GpuSeries gpu : gpus) {
                gpu.write(writer, field);
            }
        }
        xids();
        clockEvents();
        health();
        return writer.text();
    }

    private GpuFaultCounts faultCounts(GpuSeries gpu) {
        return faultCountsByGpu.getOrDefault(gpu.gpu().uuid(), GpuFaultCounts.NONE);
    }

    private void xids() {
        String last = "DCGM_FI_DEV_XID_ERRORS";
        writer.family(last, "gauge", "The last XID, 0 if there was none.");
        for (GpuSeries gpu : gpus) {
            int xid = faultCounts(gpu).lastXid();
            gpu.writeState(writer, last, ",err_code=\"" + xid + "\"" + message(xid), xid);
        }
        String recent = "DCGM_EXP_XID_ERRORS_COUNT";
        writer.family(recent, "gauge", "XIDs within the window, by code.");
        for (GpuSeries gpu : gpus) {
            faultCounts(gpu)
                    .recentXids()
                    .forEach((xid, count) -> gpu.writeCount(writer, recent, window() + xidLabel(xid), count));
        }
        String total = "DCGM_EXP_XID_ERRORS_TOTAL";
        writer.family(total, "counter", "XIDs since the start of the daemon, by code; repeats count.");
        for (GpuSeries gpu : gpus) {
            faultCounts(gpu).xids().forEach((xid, count) -> gpu.writeCount(writer, total, xidLabel(xid), count));
        }
    }

    private static String message(int xid) {
        String text = xid == 0
                ? "No Error"
                : XidCatalogue.standard().find(xid).map(Xid::description).orElse("Unknown Error");
        return ',' + MetricLabels.none().with("err_msg", text).text();
    }

    private static String xidLabel(int xid) {
        return ",xid=\"" + xid + '"';
    }

    private static String window() {
        return ",window_size_in_ms=\"" + FaultOccurrenceCounters.WINDOW.toMillis() + '"';
    }

    private void clockEvents() {
        String name = "DCGM_EXP_CLOCK_EVENTS_COUNT";
        writer.family(name, "gauge", "Polls within the window at which clocks were throttled, by reason.");
        for (GpuSeries gpu : gpus) {
            faultCounts(gpu).recentClockEvents().forEach((bit, count) -> {
                int index = Long.numberOfTrailingZeros(bit);
                if (index < CLOCK_EVENTS.length) {
                    gpu.writeCount(writer, name, window() + ",clock_event=\"" + CLOCK_EVENTS[index] + '"', count);
                }
            });
        }
    }

    /** On DCGM's scale: 0 pass, 10 warning, 20 failure. One sample per GPU; our own metrics name the fault. */
    private void health() {
        String name = "DCGM_EXP_GPU_HEALTH_STATUS";
        writer.family(name, "gauge", "0 without open faults, 10 with one, 20 with one that withdraws the GPU.");
        for (GpuSeries gpu : gpus) {
            int worst = 0;
            for (OpenFault fault : openFaults) {
                if (fault.key().gpuUuid().equals(gpu.gpu().uuid())) {
                    worst = Math.max(worst, fault.withdraws() ? 20 : 10);
                }
            }
            gpu.writeState(writer, name, ",health_watch=\"ALL\"", worst);
        }
    }
}
