package io.gpufleet.nodedaemon.http;

import io.gpufleet.catalogue.Xid;
import io.gpufleet.catalogue.XidCatalogue;
import io.gpufleet.nodedaemon.app.FaultTally;
import io.gpufleet.nodedaemon.app.FaultTally.Tally;
import io.gpufleet.nodedaemon.model.Gpu;
import io.gpufleet.nodedaemon.model.KnownGpu;
import io.gpufleet.nodedaemon.model.Look;
import io.gpufleet.nodedaemon.model.OpenFault;
import io.gpufleet.nodedaemon.model.Readout;
import io.gpufleet.nodedaemon.model.Vitals;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The metrics of the GPUs under the names of dcgm-exporter, from what the devices said at the last poll. */
public final class DcgmPage {
    /** What is older is not shown: a gap says that nobody knows, a flat line would say that nothing changed. */
    private static final Duration TOO_OLD = Duration.ofSeconds(60);

    private static final int BYTES_A_GPU = 20_000;
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
    private final Map<String, Tally> tallies = new HashMap<>();
    private final List<OpenFault> openFaults;
    private final TextPage page;

    private DcgmPage(Readout readout, FaultTally tally, String hostname, long nanos) {
        var vitals = new HashMap<String, Vitals>();
        if (!tooOld(readout, nanos)) {
            readout.vitals().forEach(its -> vitals.put(its.gpuUuid(), its));
        }
        var holders = new Holders(readout.holdings());
        String driver = switch (readout.devices().lastLook()) {
            case Look.Seen seen -> seen.driverVersion();
            case Look.Blind _ -> "";
        };
        gpus = readout.devices().gpus().stream()
                .map(KnownGpu::gpu)
                .map(gpu -> GpuSeries.of(
                        gpu, labels(gpu, hostname, driver), Optional.ofNullable(vitals.get(gpu.uuid())), holders))
                .toList();
        gpus.forEach(gpu -> tallies.put(gpu.gpu().uuid(), tally.read(gpu.gpu().uuid(), nanos)));
        openFaults = readout.openFaults();
        page = new TextPage(BYTES_A_GPU * gpus.size());
    }

    /** Whether what the GPUs last said is no longer to be shown. */
    static boolean tooOld(Readout readout, long nanos) {
        return Duration.ofNanos(nanos - readout.vitalsNanos()).compareTo(TOO_OLD) > 0;
    }

    /** Renders the page; asks nobody and waits for nobody. */
    public static String of(Readout readout, FaultTally tally, String hostname, long nanos) {
        return new DcgmPage(readout, tally, hostname, nanos).text();
    }

    /** The newer {@code hostname} and the older {@code Hostname} on every series: one set of samples, both queries. */
    private static String labels(Gpu gpu, String hostname, String driver) {
        return Labels.none()
                .with("gpu", Integer.toString(gpu.index()))
                .with("UUID", gpu.uuid())
                .with("pci_bus_id", gpu.pciBusId())
                .with("device", "nvidia" + gpu.minor())
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
            page.family(field.name(), field.kind().type(), field.help());
            for (GpuSeries gpu : gpus) {
                gpu.write(page, field);
            }
        }
        xids();
        clockEvents();
        health();
        return page.text();
    }

    private Tally tally(GpuSeries gpu) {
        return tallies.getOrDefault(gpu.gpu().uuid(), Tally.NOTHING);
    }

    private void xids() {
        String last = "DCGM_FI_DEV_XID_ERRORS";
        page.family(last, "gauge", "The last XID, 0 when there was none.");
        for (GpuSeries gpu : gpus) {
            int xid = tally(gpu).lastXid();
            gpu.state(page, last, ",err_code=\"" + xid + "\"" + message(xid), xid);
        }
        String recent = "DCGM_EXP_XID_ERRORS_COUNT";
        page.family(recent, "gauge", "XIDs within the window, by code.");
        for (GpuSeries gpu : gpus) {
            tally(gpu).recentXids().forEach((xid, count) -> gpu.count(page, recent, window() + xidLabel(xid), count));
        }
        String total = "DCGM_EXP_XID_ERRORS_TOTAL";
        page.family(total, "counter", "XIDs since the start of the daemon, by code; a repeated one counts again.");
        for (GpuSeries gpu : gpus) {
            tally(gpu).xids().forEach((xid, count) -> gpu.count(page, total, xidLabel(xid), count));
        }
    }

    private static String message(int xid) {
        String text = xid == 0
                ? "No Error"
                : XidCatalogue.standard().find(xid).map(Xid::description).orElse("Unknown Error");
        return ',' + Labels.none().with("err_msg", text).text();
    }

    private static String xidLabel(int xid) {
        return ",xid=\"" + xid + '"';
    }

    private static String window() {
        return ",window_size_in_ms=\"" + FaultTally.WINDOW.toMillis() + '"';
    }

    private void clockEvents() {
        String name = "DCGM_EXP_CLOCK_EVENTS_COUNT";
        page.family(name, "gauge", "Polls within the window at which clocks were held back, by reason.");
        for (GpuSeries gpu : gpus) {
            tally(gpu).recentClockEvents().forEach((bit, count) -> {
                int place = Long.numberOfTrailingZeros(bit);
                if (place < CLOCK_EVENTS.length) {
                    gpu.count(page, name, window() + ",clock_event=\"" + CLOCK_EVENTS[place] + '"', count);
                }
            });
        }
    }

    /** DCGM's scale: 0 pass, 10 warning, 20 failure. One sample a GPU; which fault it is, our own metrics say. */
    private void health() {
        String name = "DCGM_EXP_GPU_HEALTH_STATUS";
        page.family(name, "gauge", "0 no fault is open, 10 one is, 20 one that takes the GPU away.");
        for (GpuSeries gpu : gpus) {
            int worst = 0;
            for (OpenFault fault : openFaults) {
                if (fault.key().gpuUuid().equals(gpu.gpu().uuid())) {
                    worst = Math.max(worst, fault.withdraws() ? 20 : 10);
                }
            }
            gpu.state(page, name, ",health_watch=\"ALL\"", worst);
        }
    }
}
