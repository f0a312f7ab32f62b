package io.gpufleet.nodedaemon.model.device;

import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Every GPU that the driver has ever reported on this node, and the result of the last scan. */
public final class DeviceInventory {
    private final Map<String, KnownGpu> gpus;
    private final DeviceScan lastScan;

    private DeviceInventory(Map<String, KnownGpu> gpus, DeviceScan lastScan) {
        this.gpus = gpus;
        this.lastScan = lastScan;
    }

    /** Restores the GPUs that an earlier process knew; no scan has been made yet. */
    public static DeviceInventory restored(Collection<Gpu> before, Moment now) {
        var gpus = new LinkedHashMap<String, KnownGpu>();
        for (Gpu gpu : before) {
            gpus.put(gpu.uuid(), missing(gpu, now, "not scanned yet", true));
        }
        return new DeviceInventory(gpus, new DeviceScan.ScanFailed(DeviceScan.DriverProblem.FAILED, "not scanned yet"));
    }

    /** Returns the result of the last scan. */
    public DeviceScan lastScan() {
        return lastScan;
    }

    /** Returns every known GPU by index. */
    public List<KnownGpu> gpus() {
        return gpus.values().stream()
                .sorted(Comparator.comparingInt((KnownGpu known) -> known.gpu().index())
                        .thenComparing(known -> known.gpu().uuid()))
                .toList();
    }

    /** Returns the memory of each GPU that reports it, by UUID. */
    public Map<String, Long> memoryBytes() {
        return gpus.values().stream()
                .map(KnownGpu::gpu)
                .filter(gpu -> gpu.memoryBytes() instanceof Reading.Known<Long>)
                .collect(Collectors.toMap(Gpu::uuid, gpu -> gpu.memoryBytes().orElse(0L)));
    }

    /** Returns the GPU with the UUID. */
    public Optional<KnownGpu> find(String uuid) {
        return Optional.ofNullable(gpus.get(uuid));
    }

    /** Returns the UUID of the GPU at a PCI address in any written form; empty when none is known there. */
    public Optional<String> uuidAt(String pciBusId) {
        Optional<PciAddress> address = PciAddress.parse(pciBusId).map(PciAddress::withoutFunction);
        return address.isEmpty()
                ? Optional.empty()
                : gpus.values().stream()
                        .map(KnownGpu::gpu)
                        .filter(gpu -> PciAddress.parse(gpu.pciBusId())
                                .map(PciAddress::withoutFunction)
                                .equals(address))
                        .map(Gpu::uuid)
                        .findFirst();
    }

    /** Returns the UUIDs of a GPU and of its MIG instances; for the empty UUID, which means the node, those of all GPUs. */
    public Set<String> deviceUuids(String gpuUuid) {
        return gpus.values().stream()
                .map(KnownGpu::gpu)
                .filter(gpu -> gpuUuid.isEmpty() || gpu.uuid().equals(gpuUuid))
                .flatMap(gpu -> Stream.concat(
                        Stream.of(gpu.uuid()), gpu.instances().stream().map(MigInstance::uuid)))
                .collect(Collectors.toSet());
    }

    /** Returns the inventory after a scan. A failed scan changes no GPU; a GPU that is missing stays known. */
    public DeviceInventory after(DeviceScan scan, Moment now) {
        return switch (scan) {
            case DeviceScan.ScanFailed failed -> new DeviceInventory(gpus, failed);
            case DeviceScan.ScanSucceeded succeeded -> afterScan(succeeded, now);
        };
    }

    private DeviceInventory afterScan(DeviceScan.ScanSucceeded seen, Moment now) {
        var next = new LinkedHashMap<String, KnownGpu>();
        var answering = seen.gpus().stream().map(Gpu::uuid).collect(Collectors.toCollection(HashSet::new));
        var occupied = seen.gpus().stream().map(Gpu::pciBusId).collect(Collectors.toCollection(HashSet::new));
        for (KnownGpu known : gpus.values()) {
            // Another GPU at its address, or no PCI device at all: it was removed, not lost.
            if (!answering.contains(known.gpu().uuid())
                    && !occupied.contains(known.gpu().pciBusId())
                    && !seen.isMissingFromPciBus(known.gpu())) {
                var reason = lostReason(known.gpu(), seen);
                next.put(
                        known.gpu().uuid(),
                        stillMissing(known, now, reason.orElse("no longer found by the driver"), reason.isPresent()));
            }
        }
        for (Gpu gpu : seen.gpus()) {
            next.put(gpu.uuid(), new KnownGpu(gpu, new KnownGpu.Presence.Answering()));
        }
        return new DeviceInventory(next, seen);
    }

    /** Matches by PCI address; a GPU that was lost before the process started is known only by its index. */
    private static Optional<String> lostReason(Gpu gpu, DeviceScan.ScanSucceeded seen) {
        return seen.lost().stream()
                .filter(lost -> lost.pciBusId().isEmpty()
                        ? lost.index() == gpu.index()
                        : lost.pciBusId().equals(gpu.pciBusId()))
                .map(DeviceScan.LostGpu::reason)
                .findFirst();
    }

    private static KnownGpu stillMissing(KnownGpu known, Moment now, String reason, boolean addressInUse) {
        long since = known.presence() instanceof KnownGpu.Presence.Missing missing ? missing.sinceNanos() : now.nanos();
        return new KnownGpu(known.gpu(), new KnownGpu.Presence.Missing(since, reason, addressInUse));
    }

    private static KnownGpu missing(Gpu gpu, Moment now, String reason, boolean addressInUse) {
        return new KnownGpu(gpu, new KnownGpu.Presence.Missing(now.nanos(), reason, addressInUse));
    }
}
