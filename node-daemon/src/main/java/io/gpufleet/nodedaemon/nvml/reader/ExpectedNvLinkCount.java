package io.gpufleet.nodedaemon.nvml.reader;

import io.gpufleet.nodedaemon.model.device.Gpu;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The number of NVLinks that should be up: the most that were ever up on a GPU, and with NVSwitches the most of any GPU of its
 * model. NVML does not report which links of a board are wired, and a board without a bridge has links that never come up.
 */
public final class ExpectedNvLinkCount {
    private final Map<String, Integer> maxByGpu = new ConcurrentHashMap<>();
    private final Map<String, Integer> maxByModelOnSwitches = new ConcurrentHashMap<>();

    /** Learns the links of a scanned GPU, before any of them is sampled: GPUs are sampled in no order. */
    public void observe(Gpu gpu) {
        int _ = observe(
                gpu,
                gpu.topology().links().stream().mapToInt(Gpu.NvLinkPeer::count).sum());
    }

    private int observe(Gpu gpu, int up) {
        if (gpu.topology().links().stream().anyMatch(Gpu.NvLinkPeer::viaSwitch)) {
            int _ = maxByModelOnSwitches.merge(gpu.model(), up, Math::max);
        }
        return maxByGpu.merge(gpu.uuid(), up, Math::max);
    }

    /** Number of NVLinks that should be up and are not. */
    int missing(Gpu gpu, int up) {
        int most = observe(gpu, up);
        return Math.max(most, maxByModelOnSwitches.getOrDefault(gpu.model(), 0)) - up;
    }
}
