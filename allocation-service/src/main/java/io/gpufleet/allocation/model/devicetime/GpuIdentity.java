package io.gpufleet.allocation.model.devicetime;

/**
 * A GPU, and what its time is summed by.
 *
 * @param uuid empty where several equal GPUs of a node are meant
 * @param product product as its label has it, {@code NVIDIA-A100-SXM4-80GB}; empty while unknown
 */
public record GpuIdentity(String uuid, String shortModel, String product) {
    /** Any GPU of the model. */
    GpuIdentity ofAnyGpu() {
        return new GpuIdentity("", shortModel, product);
    }
}
