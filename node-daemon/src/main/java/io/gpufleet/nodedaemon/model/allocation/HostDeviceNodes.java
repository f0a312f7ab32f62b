package io.gpufleet.nodedaemon.model.allocation;

import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.device.MigInstance;
import java.util.ArrayList;
import java.util.List;

/**
 * Device nodes and files of the host for containers, apart from the node of each GPU. Paths are as a container sees them.
 *
 * @param devRoot directory of the host whose {@code /dev} has the nodes; empty: the host's own
 * @param control nodes that every CUDA program needs: {@code nvidiactl}, {@code nvidia-uvm} and the like
 * @param gdrcopy for GPUDirect RDMA copies
 * @param gds for GPUDirect storage
 * @param mofed for Mellanox OFED
 * @param imex IMEX channel 0
 * @param driver files of the driver
 * @param cdi CDI names that container runtimes can resolve
 */
public record HostDeviceNodes(
        String devRoot,
        List<String> control,
        List<String> gdrcopy,
        List<String> gds,
        List<String> mofed,
        List<String> imex,
        HostDriver driver,
        CdiNames cdi) {
    /** Not read yet. */
    public static final HostDeviceNodes NONE = of(List.of());

    /** Copies. */
    public HostDeviceNodes {
        control = List.copyOf(control);
        gdrcopy = List.copyOf(gdrcopy);
        gds = List.copyOf(gds);
        mofed = List.copyOf(mofed);
        imex = List.copyOf(imex);
    }

    /** Makes a host with control nodes only. */
    public static HostDeviceNodes of(List<String> control) {
        return new HostDeviceNodes(
                "", control, List.of(), List.of(), List.of(), List.of(), HostDriver.NONE, CdiNames.NOT_WRITTEN);
    }

    /** Returns the same host with other CDI names. */
    public HostDeviceNodes with(CdiNames names) {
        return new HostDeviceNodes(devRoot, control, gdrcopy, gds, mofed, imex, driver, names);
    }

    /** Returns the same host with other files of the driver. */
    public HostDeviceNodes withDriverFiles(List<AllocationResult.Mount> files) {
        return new HostDeviceNodes(
                devRoot, control, gdrcopy, gds, mofed, imex, new HostDriver(driver.vulkan(), files), cdi);
    }

    /** Returns the path on the host of a node in a container. */
    public String hostPath(String node) {
        return devRoot + node;
    }

    /** Returns the nodes of a GPU or of one of its MIG instances, which are required whether they exist or not. */
    public static List<String> of(Gpu gpu, GpuPartition partition) {
        var nodes = new ArrayList<String>();
        nodes.add("/dev/nvidia" + gpu.identifiers().minor());
        switch (partition) {
            case GpuPartition.FullGpu _ -> {}
            case GpuPartition.Mig(MigInstance instance) -> nodes.addAll(instance.capabilityNodes());
        }
        return nodes;
    }
}
