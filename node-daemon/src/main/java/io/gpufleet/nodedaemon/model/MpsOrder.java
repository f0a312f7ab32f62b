package io.gpufleet.nodedaemon.model;

import io.gpufleet.nodedaemon.model.settings.SharePlan;
import io.gpufleet.nodedaemon.model.settings.SharePlan.Means;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.TreeMap;

/**
 * What the MPS control daemon of one resource is to do.
 *
 * @param resource Kubernetes resource name
 * @param folder where control daemon, node-daemon and containers meet
 * @param devices GPUs that are shared, by index
 */
public record MpsOrder(String resource, String folder, List<Shared> devices) {
    private static final int WHOLE = 100;
    private static final long MEBIBYTE = 1 << 20;

    /**
     * One GPU.
     *
     * @param shares number of them
     * @param memoryBytes of the GPU; unavailable: no limit can be set
     */
    public record Shared(String uuid, int shares, Reading<Long> memoryBytes) {
        /** What of its memory one share may pin, MiB; 0 without limit. */
        public long limitMebibytes() {
            return memoryBytes.orElse(0L) / shares / MEBIBYTE;
        }
    }

    /** Copies the list. */
    public MpsOrder {
        devices = List.copyOf(devices);
    }

    /**
     * Part of the multiprocessors that one share may use, percent. A control daemon knows one number for all its GPUs, so
     * the GPU with the most shares sets it.
     */
    public int threadPercentage() {
        int most = devices.stream().mapToInt(Shared::shares).max().orElse(1);
        return Math.max(1, WHOLE / most);
    }

    /**
     * One order a resource that MPS shares. A GPU that is not well stays in it: control daemons are not to start anew, and
     * with them everybody's work, whenever one GPU has a fault.
     */
    public static List<MpsOrder> of(Collection<Offer> offers, SharePlan plan) {
        if (plan.means() != Means.MPS) {
            return List.of();
        }
        var byResource = new TreeMap<String, LinkedHashMap<String, Shared>>();
        offers.stream()
                .filter(offer -> offer.replicas() > 1 && !offer.leaving())
                .forEach(offer -> byResource
                        .computeIfAbsent(offer.resource(), _ -> new LinkedHashMap<>())
                        .put(
                                offer.deviceUuid(),
                                new Shared(
                                        offer.deviceUuid(),
                                        offer.replicas(),
                                        offer.gpu().memoryBytes())));
        return byResource.entrySet().stream()
                .map(entry -> new MpsOrder(
                        entry.getKey(),
                        plan.mpsFolder(entry.getKey()),
                        List.copyOf(entry.getValue().values())))
                .toList();
    }
}
