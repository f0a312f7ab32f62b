package io.gpufleet.nodedaemon.nvml;

import io.gpufleet.nodedaemon.model.device.DeviceScan.LostGpu;
import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.device.PciAddress;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.Reading.Known;
import io.gpufleet.nodedaemon.nvml.call.NvmlFailure;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The GPUs that answered before, by which a lost one is identified: NVML names it by its index only, and another session may
 * have other indices.
 */
final class KnownGpus {
    private final Map<Integer, Gpu> byIndex = new HashMap<>();
    private final Map<PciAddress, Gpu> byAddress = new HashMap<>();

    /** Keeps the GPUs that answered and identifies those that failed, by index. */
    List<LostGpu> lost(
            List<Gpu> answering,
            Map<Integer, NvmlFailure> failures,
            Reading<List<String>> bound,
            NvmlFaultReporter reportedFaults) {
        for (Gpu gpu : answering) {
            byIndex.put(gpu.index(), gpu);
            PciAddress.parse(gpu.pciBusId()).ifPresent(address -> byAddress.put(address.withoutFunction(), gpu));
        }
        Set<PciAddress> present =
                addresses(answering.stream().map(Gpu::pciBusId).toList());
        List<LostGpu> lost = new ArrayList<>();
        failures.forEach((index, why) -> {
            Optional<Gpu> gpu = identify(index, present, bound, failures.size());
            gpu.ifPresent(known -> reportedFaults.onFailure(known.uuid(), why));
            lost.add(new LostGpu(index, gpu.map(Gpu::pciBusId).orElse(""), why.name()));
        });
        return lost;
    }

    private Optional<Gpu> identify(int index, Set<PciAddress> answering, Reading<List<String>> bound, int failures) {
        Optional<Gpu> before = Optional.ofNullable(byIndex.get(index))
                .filter(gpu -> !answering.containsAll(addresses(List.of(gpu.pciBusId()))));
        if (!(bound instanceof Known<List<String>>(List<String> listed)) || listed.isEmpty()) {
            return before;
        }
        Set<PciAddress> candidates = addresses(listed);
        candidates.removeAll(answering);
        Optional<Gpu> listedBefore = before.filter(gpu -> candidates.containsAll(addresses(List.of(gpu.pciBusId()))));
        return listedBefore.isPresent() || candidates.size() != 1 || failures != 1
                ? listedBefore
                : Optional.ofNullable(byAddress.get(candidates.iterator().next()));
    }

    /** The addresses, for comparison with those of another source. */
    static Set<PciAddress> addresses(Collection<String> busIds) {
        return busIds.stream()
                .flatMap(busId -> PciAddress.parse(busId).stream())
                .map(PciAddress::withoutFunction)
                .collect(Collectors.toSet());
    }
}
