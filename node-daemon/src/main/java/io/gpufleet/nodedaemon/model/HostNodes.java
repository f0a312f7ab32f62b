package io.gpufleet.nodedaemon.model;

import java.util.List;

/**
 * Device nodes that the host has, beside one for each GPU.
 *
 * @param control what every CUDA program needs: {@code nvidiactl}, {@code nvidia-uvm} and the like
 * @param gdrcopy for GPUDirect RDMA copies
 * @param gds for GPUDirect storage
 * @param mofed for Mellanox OFED
 * @param imex IMEX channel 0
 */
public record HostNodes(
        List<String> control, List<String> gdrcopy, List<String> gds, List<String> mofed, List<String> imex) {
    /** Copies. */
    public HostNodes {
        control = List.copyOf(control);
        gdrcopy = List.copyOf(gdrcopy);
        gds = List.copyOf(gds);
        mofed = List.copyOf(mofed);
        imex = List.copyOf(imex);
    }

    /** A host with control nodes only. */
    public static HostNodes of(List<String> control) {
        return new HostNodes(control, List.of(), List.of(), List.of(), List.of());
    }
}
