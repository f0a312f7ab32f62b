package io.gpufleet.nodedaemon.model.device;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The GPUs that a node had, over restarts and boots. One that is gone from the PCI bus is missing, until it is back, another GPU
 * is in its slot, or an operator removes it from this set.
 *
 * @param since when the set began, by the node's clock; a GPU that was there before is unknown
 * @param gpus by UUID, each once
 */
public record LearnedGpus(Instant since, List<LearnedGpu> gpus) {
    /** Nothing was saved. */
    public static final LearnedGpus NONE = new LearnedGpus(Instant.EPOCH, List.of());

    /** Copies the list. */
    public LearnedGpus {
        gpus = List.copyOf(gpus);
    }

    /**
     * A GPU that the node had.
     *
     * @param serial serial number of the board; empty when unknown
     * @param slot its PCI address as NVML writes it
     * @param inSysfs whether the kernel listed it, so that its absence there says something
     */
    public record LearnedGpu(String uuid, String serial, String slot, boolean inSysfs) {
        static LearnedGpu of(Gpu gpu) {
            return new LearnedGpu(
                    gpu.uuid(),
                    gpu.identifiers().serial().orElse(""),
                    gpu.pciBusId(),
                    gpu.topology().pciRoute() instanceof Reading.Known);
        }

        /** Whether an operator means this GPU: by UUID, or by the serial number of its board. */
        boolean isNamed(Set<String> names) {
            return names.contains(uuid) || (!serial.isEmpty() && names.contains(serial));
        }

        @Override
        public String toString() {
            return uuid + " (" + (serial.isEmpty() ? "" : "serial " + serial + ", ") + "slot " + slot + ")";
        }
    }

    /** Returns the set that begins now, unless an earlier process or boot began it. */
    public LearnedGpus beginning(Instant now) {
        return equals(NONE) ? new LearnedGpus(now, List.of()) : this;
    }

    /** Returns the set with the GPUs of a scan; a GPU whose slot has another one now was replaced. */
    public LearnedGpus after(DeviceScan scan) {
        if (!(scan instanceof DeviceScan.ScanSucceeded seen) || seen.gpus().isEmpty()) {
            return this;
        }
        Set<String> occupied = seen.gpus().stream().map(Gpu::pciBusId).collect(Collectors.toSet());
        Map<String, LearnedGpu> next = new LinkedHashMap<>();
        gpus.stream().filter(gpu -> !occupied.contains(gpu.slot())).forEach(gpu -> next.put(gpu.uuid(), gpu));
        seen.gpus().forEach(gpu -> next.put(gpu.uuid(), LearnedGpu.of(gpu)));
        List<LearnedGpu> sorted = new ArrayList<>(next.values());
        sorted.sort(Comparator.comparing(LearnedGpu::slot).thenComparing(LearnedGpu::uuid));
        return new LearnedGpus(since, sorted);
    }

    /** Returns those that are gone by a scan; none where the kernel's list does not say so. */
    public List<LearnedGpu> missing(DeviceScan scan) {
        return scan instanceof DeviceScan.ScanSucceeded seen
                ? gpus.stream()
                        .filter(gpu -> seen.isMissingFromPciBus(gpu.slot(), gpu.inSysfs()))
                        .toList()
                : List.of();
    }

    /** Returns the set without those that an operator names by UUID or serial number. */
    public LearnedGpus without(Set<String> names) {
        return new LearnedGpus(
                since, gpus.stream().filter(gpu -> !gpu.isNamed(names)).toList());
    }
}
