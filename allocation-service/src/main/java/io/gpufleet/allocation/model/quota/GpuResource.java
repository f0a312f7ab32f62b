package io.gpufleet.allocation.model.quota;

/** Which Kubernetes resources are GPUs. A MIG device and a share count as one until profiles have limits of their own. */
public final class GpuResource {
    /** Whole GPUs. */
    public static final String GPU = "nvidia.com/gpu";

    private GpuResource() {}

    /** True for {@code nvidia.com/gpu}, its shared form and MIG profiles. */
    public static boolean is(String resource) {
        return resource.equals(GPU) || resource.equals(GPU + ".shared") || resource.startsWith("nvidia.com/mig-");
    }
}
