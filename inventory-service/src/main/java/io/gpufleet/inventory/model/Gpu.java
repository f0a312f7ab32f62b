package io.gpufleet.inventory.model;

import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One physical GPU as its node announced it; an empty text is a value that the daemon could not read.
 *
 * @param id identifiers of the board
 * @param product model and its properties
 * @param topology NUMA node and links
 * @param mig MIG mode and instances
 * @param resource Kubernetes resource that it is advertised as
 * @param sharing how many containers may have it
 * @param localHealth health as the daemon reports it
 * @param vgpuHost driver of the hypervisor, for a virtual GPU
 */
public record Gpu(
        Identifiers id,
        Product product,
        Topology topology,
        Mig mig,
        String resource,
        Sharing sharing,
        LocalHealth localHealth,
        VgpuHost vgpuHost) {

    /** UUID as NVML prints it. */
    public String uuid() {
        return id.uuid();
    }

    /** NVML index, from 0. */
    public int index() {
        return id.index();
    }

    /** Product name as NVML prints it. */
    public String model() {
        return product.model();
    }

    /** Total memory. */
    public long memoryBytes() {
        return product.memoryBytes();
    }

    /** MIG instances, none unless the mode is enabled. */
    public List<MigInstance> migInstances() {
        return mig.instances();
    }

    /** Whether MIG mode is enabled. */
    public boolean migEnabled() {
        return mig.mode() == MigMode.ENABLED;
    }

    /** UUIDs of the GPU and of its MIG instances. */
    public List<String> deviceIds() {
        if (migInstances().isEmpty()) {
            return uuid().isEmpty() ? List.of() : List.of(uuid());
        }
        return Stream.concat(Stream.of(uuid()), migInstances().stream().map(MigInstance::uuid))
                .filter(it -> !it.isEmpty())
                .toList();
    }

    /**
     * Identifiers of a board.
     *
     * @param uuid as NVML prints it
     * @param serial board serial number
     * @param index NVML index, from 0; may change over a reboot
     * @param minor N of {@code /dev/nvidiaN}
     * @param pciBusId {@code dddddddd:bb:dd.f}
     * @param vbiosVersion VBIOS version
     */
    public record Identifiers(String uuid, String serial, int index, int minor, String pciBusId, String vbiosVersion) {}

    /**
     * Model of a GPU and its properties.
     *
     * @param model product name as NVML prints it
     * @param shortModel short name that other programs match on, for example {@code A100}
     * @param family architecture family in lower case
     * @param computeCapability {@code major.minor}
     * @param mode {@code compute} or {@code graphics}
     * @param memoryBytes total memory
     */
    public record Product(
            String model, String shortModel, String family, String computeCapability, String mode, long memoryBytes) {}

    /**
     * Place of a GPU in its node and its fabric.
     *
     * @param numaNode NUMA node, null where the platform reports none
     * @param nvlinkPeers far ends of its NVLinks
     * @param fabricClique {@code <cluster UUID>.<clique id>}
     */
    public record Topology(@Nullable Integer numaNode, List<NvlinkPeer> nvlinkPeers, String fabricClique) {
        /** Copies the list. */
        public Topology {
            nvlinkPeers = List.copyOf(nvlinkPeers);
        }
    }

    /** Far end of NVLinks; the bus id is empty for a switch. */
    public record NvlinkPeer(String pciBusId, int links, boolean viaSwitch) {}

    /** MIG mode and instances. */
    public record Mig(MigMode mode, List<MigInstance> instances) {
        /** Copies the list. */
        public Mig {
            instances = List.copyOf(instances);
        }
    }

    /** MIG mode of a GPU. */
    public enum MigMode {
        /** The GPU has no MIG, or the mode could not be read. */
        NONE,
        /** Capable, off. */
        DISABLED,
        /** On. */
        ENABLED
    }

    /**
     * One MIG device.
     *
     * @param uuid as NVML prints it
     * @param profile for example {@code 1g.5gb}
     * @param gpuInstanceId NVML id of the GPU instance
     * @param computeInstanceId NVML id of the compute instance
     * @param resource Kubernetes resource that it is advertised as
     * @param attributes size and engines
     */
    public record MigInstance(
            String uuid,
            String profile,
            int gpuInstanceId,
            int computeInstanceId,
            String resource,
            MigAttributes attributes) {}

    /**
     * Attributes of a MIG device as NVML returns them.
     *
     * @param memoryBytes total memory
     * @param multiprocessors number of streaming multiprocessors
     * @param gpuSlices slices of the GPU instance, 0 where the daemon does not tell
     * @param computeSlices slices of the compute instance
     * @param engines engines of the GPU instance
     */
    public record MigAttributes(
            long memoryBytes, int multiprocessors, int gpuSlices, int computeSlices, Engines engines) {}

    /** Numbers of engines of a MIG device. */
    public record Engines(int copy, int decoder, int encoder, int jpeg, int ofa) {}

    /** Sharing of one device; {@code replicas} is 1 without sharing. */
    public record Sharing(SharingStrategy strategy, int replicas) {
        /** One holder at a time. */
        public static final Sharing UNSHARED = new Sharing(SharingStrategy.NONE, 1);

        /** True when more than one holder may have the device. */
        public boolean shared() {
            return replicas > 1;
        }

        /** Means of sharing. */
        public enum SharingStrategy {
            /** Not reported. */
            UNKNOWN,
            /** One holder at a time. */
            NONE,
            /** Time-slicing by the driver. */
            TIME_SLICING,
            /** CUDA MPS. */
            MPS
        }
    }

    /** Health of a device as its daemon reports it. */
    public enum LocalHealth {
        /** Not reported. */
        UNKNOWN,
        /** May be allocated. */
        HEALTHY,
        /** Must not be allocated. */
        UNHEALTHY,
        /** Does not respond any more, or was present before and is missing now. */
        LOST
    }

    /** Version and branch of the driver on the host of a virtual GPU. */
    public record VgpuHost(String driverVersion, String driverBranch) {
        /** For a GPU that is not virtual, or whose host is unknown. */
        public static final VgpuHost NONE = new VgpuHost("", "");
    }
}
