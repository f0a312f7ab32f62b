package io.gpufleet.nodedaemon.model.allocation;

import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.settings.SharingSettings;
import io.gpufleet.nodedaemon.model.settings.SharingSettings.SharingMode;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.TreeMap;

/**
 * Desired state of the MPS control daemon of one resource.
 *
 * @param resource Kubernetes resource name
 * @param directory shared by control daemon, node-daemon and containers
 * @param devices GPUs that are shared, by index
 */
public record MpsDaemonSpec(String resource, String directory, List<SharedGpu> devices) {
    private static final int WHOLE = 100;
    private static final long MEBIBYTE = 1 << 20;

    /**
     * One shared GPU.
     *
     * @param shares number of its replicas
     * @param memoryBytes of the GPU; without it no limit can be set
     */
    public record SharedGpu(String uuid, int shares, Reading<Long> memoryBytes) {
        /** Pinned memory limit of one replica, MiB; 0 without limit. */
        public long limitMebibytes() {
            return memoryBytes.orElse(0L) / shares / MEBIBYTE;
        }
    }

    /** Copies the list. */
    public MpsDaemonSpec {
        devices = List.copyOf(devices);
    }

    /**
     * Active thread percentage of one replica. A control daemon has one value for all its GPUs, so the GPU with the most
     * replicas determines it.
     */
    public int threadPercentage() {
        int most = devices.stream().mapToInt(SharedGpu::shares).max().orElse(1);
        return Math.max(1, WHOLE / most);
    }

    /**
     * Returns one spec per resource that MPS shares. An unhealthy GPU stays in it: a change restarts the control daemon and ends
     * the work of all its clients.
     */
    public static List<MpsDaemonSpec> of(Collection<OfferedDevice> offers, SharingSettings plan) {
        if (plan.mode() != SharingMode.MPS) {
            return List.of();
        }
        var byResource = new TreeMap<String, LinkedHashMap<String, SharedGpu>>();
        offers.stream()
                .filter(offer -> offer.replicas() > 1 && !offer.health().leaving())
                .forEach(offer -> byResource
                        .computeIfAbsent(offer.resource(), _ -> new LinkedHashMap<>())
                        .put(
                                offer.deviceUuid(),
                                new SharedGpu(
                                        offer.deviceUuid(),
                                        offer.replicas(),
                                        offer.gpu().memoryBytes())));
        return byResource.entrySet().stream()
                .map(entry -> new MpsDaemonSpec(
                        entry.getKey(),
                        plan.mpsDirectory(entry.getKey()),
                        List.copyOf(entry.getValue().values())))
                .toList();
    }
}
