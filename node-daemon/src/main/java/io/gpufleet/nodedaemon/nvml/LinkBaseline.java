package io.gpufleet.nodedaemon.nvml;

import io.gpufleet.nodedaemon.model.Gpu;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * How many NVLinks of a GPU should be up: as many as ever were, and on NVSwitches as many as of any GPU of its model. NVML
 * does not tell which links of a board are wired, and a board without a bridge has links that never come up.
 */
final class LinkBaseline {
    private final Map<String, Integer> mostOfGpu = new ConcurrentHashMap<>();
    private final Map<String, Integer> mostOnSwitches = new ConcurrentHashMap<>();

    /** How many are missing, of a GPU that has so many up now. */
    int missing(Gpu gpu, int up) {
        int most = mostOfGpu.merge(gpu.uuid(), up, Math::max);
        if (gpu.links().stream().anyMatch(Gpu.Link::viaSwitch)) {
            int _ = mostOnSwitches.merge(gpu.model(), up, Math::max);
        }
        return Math.max(most, mostOnSwitches.getOrDefault(gpu.model(), 0)) - up;
    }
}
