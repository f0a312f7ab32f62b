package io.gpufleet.nodedaemon.http;

import io.gpufleet.nodedaemon.app.FaultTally;
import io.gpufleet.nodedaemon.model.Gpu;
import io.gpufleet.nodedaemon.model.KnownGpu;
import io.gpufleet.nodedaemon.model.Offer;
import io.gpufleet.nodedaemon.model.Readout;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/** What the kubelet is told of each GPU and why, and what happened to it; these series have no pods and no end. */
public final class OfferPage {
    private final TextPage page = new TextPage(8192);
    private final Readout readout;
    private final List<Gpu> gpus;

    private OfferPage(Readout readout) {
        this.readout = readout;
        this.gpus = readout.devices().gpus().stream().map(KnownGpu::gpu).toList();
    }

    /** Renders the page. */
    public static String of(Readout readout, FaultTally tally, long nanos) {
        var page = new OfferPage(readout);
        if (page.gpus.isEmpty()) {
            return "";
        }
        page.offers();
        page.faults(tally, nanos);
        return page.page.text();
    }

    private static String labels(Gpu gpu) {
        return Labels.none()
                .with("gpu", Integer.toString(gpu.index()))
                .with("UUID", gpu.uuid())
                .text();
    }

    private void offers() {
        var byResource = new LinkedHashMap<String, List<Offer>>();
        for (Offer offer : readout.offers().listed().values()) {
            String labels = Labels.after(labels(offer.gpu()))
                    .with("resource", offer.resource())
                    .text();
            byResource.computeIfAbsent(labels, _ -> new ArrayList<>()).add(offer);
        }
        count("gpufleet_gpu_devices_listed", "Devices of the GPU that the kubelet is told of.", byResource, _ -> true);
        count("gpufleet_gpu_devices_healthy", "Those that may be handed out.", byResource, Offer::healthy);
        count(
                "gpufleet_gpu_devices_locally_healthy",
                "Those that the daemon itself has nothing against.",
                byResource,
                Offer::locallyHealthy);
        count(
                "gpufleet_gpu_devices_allowed_by_verdict",
                "Those that the health-service's verdict has nothing against.",
                byResource,
                Offer::overlayAllows);
    }

    private void count(String name, String help, Map<String, List<Offer>> byLabels, Predicate<Offer> which) {
        page.family(name, "gauge", help);
        byLabels.forEach((labels, offers) ->
                page.sample(name, labels, offers.stream().filter(which).count()));
    }

    /** The sum begins at 0, so that no rate misses the first fault, as it would where a series begins with it. */
    private void faults(FaultTally tally, long nanos) {
        String open = "gpufleet_gpu_faults_open";
        page.family(open, "gauge", "Faults of the GPU that are open.");
        gpus.forEach(gpu -> page.sample(
                open,
                labels(gpu),
                readout.openFaults().stream()
                        .filter(fault -> fault.key().gpuUuid().equals(gpu.uuid()))
                        .count()));
        String all = "gpufleet_gpu_faults_observed_total";
        page.family(all, "counter", "Observations of faults since the start of the daemon; repeats count.");
        gpus.forEach(gpu ->
                page.sample(all, labels(gpu), tally.read(gpu.uuid(), nanos).faults()));
        String xids = "gpufleet_gpu_xid_errors_total";
        page.family(xids, "counter", "Those of them that are XIDs, by code.");
        gpus.forEach(gpu -> tally.read(gpu.uuid(), nanos)
                .xids()
                .forEach((xid, count) -> page.sample(
                        xids,
                        Labels.after(labels(gpu))
                                .with("xid", Integer.toString(xid))
                                .text(),
                        count)));
    }
}
