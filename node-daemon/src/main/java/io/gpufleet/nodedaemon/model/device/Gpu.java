package io.gpufleet.nodedaemon.model.device;

import java.util.List;

/**
 * One physical GPU. All but its MIG instances is fixed once driver and fabric are up, so it is read by a device scan only.
 *
 * @param memoryBytes total memory
 * @param vgpuHost the hypervisor's side; unavailable unless the GPU is a virtual one
 */
public record Gpu(
        Identifiers identifiers,
        Product product,
        Reading<Long> memoryBytes,
        Topology topology,
        Mig mig,
        Reading<VgpuHost> vgpuHost) {
    /**
     * Identifiers of one board (DCGM: dcgmDeviceIdentifiers_t).
     *
     * @param uuid as NVML prints it
     * @param serial board serial number
     * @param index NVML index, from 0
     * @param minor N of {@code /dev/nvidiaN}
     * @param pciBusId {@code dddddddd:bb:dd.f} in upper-case hex
     */
    public record Identifiers(
            String uuid, Reading<String> serial, int index, int minor, String pciBusId, Reading<String> vbiosVersion) {}

    /**
     * Attributes that all GPUs of one model share.
     *
     * @param model product name as NVML prints it
     * @param shortModel short name that selectors match, for example {@code A100}
     * @param family architecture family in lower case, for example {@code ampere}
     * @param computeCapability {@code major.minor}
     * @param mode {@code compute} or {@code graphics}, by PCI class
     */
    public record Product(
            String model, String shortModel, String family, String computeCapability, Reading<String> mode) {}

    /**
     * Place of the GPU relative to others.
     *
     * @param numaNode NUMA node
     * @param links NVLink ends, by peer
     * @param fabricClique {@code <cluster UUID>.<clique id>}
     * @param pciRoute the PCI root and the addresses of the bridges above the GPU, from the root down; a common prefix of two
     *     GPUs is what they share
     */
    public record Topology(
            Reading<Integer> numaNode,
            List<NvLinkPeer> links,
            Reading<String> fabricClique,
            Reading<List<String>> pciRoute) {
        /** Copies the lists. */
        public Topology {
            links = List.copyOf(links);
            pciRoute = pciRoute.map(List::copyOf);
        }
    }

    /**
     * MIG mode and instances.
     *
     * @param enabled whether MIG mode is on; unavailable where the GPU does not support MIG
     * @param instances by their index; empty unless MIG mode is on
     */
    public record Mig(Reading<Boolean> enabled, List<MigInstance> instances) {
        /** Copies the list. */
        public Mig {
            instances = List.copyOf(instances);
        }
    }

    /**
     * Active NVLinks to one peer.
     *
     * @param peerPciBusId the peer GPU; empty when the far end is a switch
     * @param count number of active links
     * @param viaSwitch true when the far end is an NVSwitch
     */
    public record NvLinkPeer(String peerPciBusId, int count, boolean viaSwitch) {}

    /** UUID as NVML prints it. */
    public String uuid() {
        return identifiers.uuid();
    }

    /** NVML index, from 0. */
    public int index() {
        return identifiers.index();
    }

    /** PCI address as NVML prints it. */
    public String pciBusId() {
        return identifiers.pciBusId();
    }

    /** Product name as NVML prints it. */
    public String model() {
        return product.model();
    }

    /** MIG instances by their index; empty unless MIG mode is on. */
    public List<MigInstance> instances() {
        return mig.instances();
    }

    /** Returns the same GPU with other MIG instances. */
    public Gpu withMig(Reading<Boolean> enabled, List<MigInstance> instances) {
        return new Gpu(identifiers, product, memoryBytes, topology, new Mig(enabled, instances), vgpuHost);
    }

    /** Returns the same GPU with readings that a scan could not make at first: NVLinks and clique before the fabric is up, or memory. */
    public Gpu withLateReadings(List<NvLinkPeer> links, Reading<String> fabricClique, Reading<Long> memory) {
        var late = new Topology(topology.numaNode(), links, fabricClique, topology.pciRoute());
        return new Gpu(identifiers, product, memory, late, mig, vgpuHost);
    }
}
