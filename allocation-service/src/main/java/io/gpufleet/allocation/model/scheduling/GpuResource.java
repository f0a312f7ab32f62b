package io.gpufleet.allocation.model.scheduling;

/** Names of Kubernetes resources that are GPUs. A MIG device and a share count as one GPU each. */
public final class GpuResource {
    /** Resource of whole GPUs. */
    public static final String GPU = "nvidia.com/gpu";

    private GpuResource() {}

    /** True for {@code nvidia.com/gpu}, its shared form and MIG profiles. */
    public static boolean isGpu(String resource) {
        return resource.equals(GPU) || resource.equals(GPU + ".shared") || resource.startsWith("nvidia.com/mig-");
    }
}
