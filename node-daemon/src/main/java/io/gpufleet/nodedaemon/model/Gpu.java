package io.gpufleet.nodedaemon.model;

import java.util.List;

/**
 * What one physical GPU is; all of it but its partitioning is fixed once driver and fabric are up, so it is read at
 * enumeration only.
 *
 * @param uuid as NVML prints it
 * @param serial board serial number
 * @param index NVML index, from 0
 * @param minor N of {@code /dev/nvidiaN}
 * @param pciBusId {@code dddddddd:bb:dd.f} in upper-case hex
 * @param model product name as NVML prints it
 * @param shortModel short name that other programs match on, for example {@code A100}
 * @param family architecture family in lower case, for example {@code ampere}
 * @param computeCapability {@code major.minor}
 * @param memoryBytes memory in all
 * @param vbiosVersion VBIOS version
 * @param numaNode NUMA node
 * @param migEnabled whether MIG mode is on; unavailable where the GPU has no MIG
 * @param links NVLink ends, by peer
 * @param fabricClique {@code <cluster UUID>.<clique id>}
 * @param mode {@code compute} or {@code graphics}, by PCI class
 * @param instances MIG instances, by their index; empty unless MIG is on
 * @param pciRoute the PCI root and the addresses of the bridges above it, from the root down: what two GPUs have in
 *     common is near both
 * @param vgpuHost the hypervisor's side; unavailable where the GPU is no virtual one
 */
public record Gpu(
        String uuid,
        Reading<String> serial,
        int index,
        int minor,
        String pciBusId,
        String model,
        String shortModel,
        String family,
        String computeCapability,
        Reading<Long> memoryBytes,
        Reading<String> vbiosVersion,
        Reading<Integer> numaNode,
        Reading<Boolean> migEnabled,
        List<Link> links,
        Reading<String> fabricClique,
        Reading<String> mode,
        List<MigInstance> instances,
        Reading<List<String>> pciRoute,
        Reading<VgpuHost> vgpuHost) {
    /** Copies the lists. */
    public Gpu {
        links = List.copyOf(links);
        instances = List.copyOf(instances);
        pciRoute = pciRoute.map(List::copyOf);
    }

    /** The same GPU, partitioned otherwise. */
    public Gpu partitioned(Reading<Boolean> enabled, List<MigInstance> into) {
        return with(memoryBytes, enabled, links, fabricClique, into);
    }

    /** The same GPU with what could not be read at first: its neighbours before the fabric is up, or its memory. */
    public Gpu learnt(List<Link> ends, Reading<String> clique, Reading<Long> memory) {
        return with(memory, migEnabled, ends, clique, instances);
    }

    /** All that may change while the driver stays loaded. */
    private Gpu with(
            Reading<Long> memory,
            Reading<Boolean> mig,
            List<Link> ends,
            Reading<String> clique,
            List<MigInstance> into) {
        return new Gpu(
                uuid,
                serial,
                index,
                minor,
                pciBusId,
                model,
                shortModel,
                family,
                computeCapability,
                memory,
                vbiosVersion,
                numaNode,
                mig,
                ends,
                clique,
                mode,
                into,
                pciRoute,
                vgpuHost);
    }

    /**
     * Active NVLinks to one peer.
     *
     * @param peerPciBusId the peer GPU; empty when the far end is a switch
     * @param count number of active links
     * @param viaSwitch true when the far end is an NVSwitch
     */
    public record Link(String peerPciBusId, int count, boolean viaSwitch) {}
}
