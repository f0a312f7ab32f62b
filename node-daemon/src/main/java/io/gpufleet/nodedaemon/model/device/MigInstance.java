package io.gpufleet.nodedaemon.model.device;

import java.util.List;

/**
 * One MIG device; all of it is fixed for the life of the instance.
 *
 * @param uuid {@code MIG-…}
 * @param profile for example {@code 1g.5gb} or {@code 1g.10gb+me}
 * @param index of the instance on its GPU, from 0, as {@code nvidia-smi -L} counts
 * @param gpuInstance GPU instance id
 * @param computeInstance compute instance id
 * @param attributes its share of the GPU
 * @param capabilityNodes device nodes below {@code /dev/nvidia-caps} that its holder needs
 * @param placement of its GPU instance
 */
public record MigInstance(
        String uuid,
        String profile,
        int index,
        int gpuInstance,
        int computeInstance,
        Attributes attributes,
        List<String> capabilityNodes,
        Reading<Placement> placement) {
    /** Copies the list. */
    public MigInstance {
        capabilityNodes = List.copyOf(capabilityNodes);
    }

    /**
     * Placement of a GPU instance (nvmlGpuInstanceInfo_t).
     *
     * @param profileId of the GPU instance, as {@code nvidia-smi mig -lgip} counts
     * @param start its first memory slice
     * @param size number of memory slices
     */
    public record Placement(int profileId, int start, int size) {}

    /**
     * An instance's share of its GPU (nvmlDeviceAttributes_t).
     *
     * @param memoryBytes total memory
     */
    public record Attributes(long memoryBytes, int multiprocessors, Slices slices, Engines engines) {}

    /** Slices of the GPU instance and of the compute instance, out of 7. */
    public record Slices(int gpu, int compute) {}

    /** Engines by kind; JPEG decoders and optical flow accelerators last. */
    public record Engines(int copy, int decoder, int encoder, int jpeg, int ofa) {}

    /** Whether the instance is a whole GPU instance; only these are offered. */
    public boolean isWholeGpuInstance() {
        return attributes.slices().gpu() == attributes.slices().compute();
    }
}
