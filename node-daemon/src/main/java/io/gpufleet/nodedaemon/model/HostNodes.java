package io.gpufleet.nodedaemon.model;

import java.util.ArrayList;
import java.util.List;

/**
 * What the host has for containers, beside a device node for each GPU. Nodes are named as a container sees them.
 *
 * @param devRoot directory of the host whose {@code /dev} has the nodes; empty: the host's own
 * @param control what every CUDA program needs: {@code nvidiactl}, {@code nvidia-uvm} and the like
 * @param gdrcopy for GPUDirect RDMA copies
 * @param gds for GPUDirect storage
 * @param mofed for Mellanox OFED
 * @param imex IMEX channel 0
 * @param vulkan the driver's Vulkan description on the host; empty where it has none
 * @param cdi what container runtimes resolve by CDI
 */
public record HostNodes(
        String devRoot,
        List<String> control,
        List<String> gdrcopy,
        List<String> gds,
        List<String> mofed,
        List<String> imex,
        String vulkan,
        CdiNames cdi) {
    /** Nobody has looked yet. */
    public static final HostNodes NONE = of(List.of());

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
        return new HostNodes("", control, List.of(), List.of(), List.of(), List.of(), "", CdiNames.NOT_WRITTEN);
    }

    /** The same host, known to container runtimes by these names. */
    public HostNodes with(CdiNames names) {
        return new HostNodes(devRoot, control, gdrcopy, gds, mofed, imex, vulkan, names);
    }

    /** Where a node that a container sees is on the host. */
    public String onHost(String node) {
        return devRoot + node;
    }

    /** The nodes of a GPU or of one of its MIG instances, whether they exist or not: without them nothing works. */
    public static List<String> of(Gpu gpu, Part part) {
        var nodes = new ArrayList<String>();
        nodes.add("/dev/nvidia" + gpu.minor());
        switch (part) {
            case Part.Whole _ -> {}
            case Part.Slice(MigInstance instance) -> nodes.addAll(instance.capabilityNodes());
        }
        return nodes;
    }
}
