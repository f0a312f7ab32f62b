package io.gpufleet.inventory.model;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One physical GPU as its node announced it; an empty text means that the daemon could not tell.
 *
 * @param uuid as NVML prints it
 * @param serial board serial number
 * @param index NVML index, from 0
 * @param minor N of {@code /dev/nvidiaN}
 * @param pciBusId {@code dddddddd:bb:dd.f}
 * @param model product name as NVML prints it
 * @param shortModel short name that other programs match on, for example {@code A100}
 * @param family architecture family in lower case
 * @param computeCapability {@code major.minor}
 * @param memoryBytes memory in all
 * @param vbiosVersion VBIOS version
 * @param numaNode NUMA node, null where the platform names none
 * @param peers what it reaches by NVLink
 * @param fabricClique {@code <cluster UUID>.<clique id>}
 * @param migMode MIG mode
 * @param instances MIG instances
 * @param sharing how it is offered several times
 * @param resource Kubernetes resource under which it is offered
 * @param localHealth the daemon's own opinion
 * @param mode {@code compute} or {@code graphics}
 * @param vgpuHost the hypervisor's side, where the GPU is a virtual one
 */
public record Gpu(
        String uuid,
        String serial,
        int index,
        int minor,
        String pciBusId,
        String model,
        String shortModel,
        String family,
        String computeCapability,
        long memoryBytes,
        String vbiosVersion,
        @Nullable Integer numaNode,
        List<Peer> peers,
        String fabricClique,
        MigMode migMode,
        List<Instance> instances,
        Sharing sharing,
        String resource,
        LocalHealth localHealth,
        String mode,
        VgpuHost vgpuHost) {
    /** Copies the lists. */
    public Gpu {
        peers = List.copyOf(peers);
        instances = List.copyOf(instances);
    }

    /** One end that a GPU reaches by NVLink; the bus id is empty when the far end is a switch. */
    public record Peer(String pciBusId, int links, boolean viaSwitch) {}

    /** Version and branch of the driver under a virtual GPU. */
    public record VgpuHost(String driverVersion, String driverBranch) {
        /** Of a GPU that is no virtual one, or of which that is not known. */
        public static final VgpuHost NONE = new VgpuHost("", "");
    }

    /** Whether a GPU is divided. */
    public enum MigMode {
        /** The GPU has no MIG, or it could not be asked. */
        NONE,
        /** Capable, off. */
        DISABLED,
        /** On. */
        ENABLED
    }

    /**
     * One MIG device.
     *
     * @param profile for example {@code 1g.5gb}
     * @param multiprocessors streaming multiprocessors of it
     */
    public record Instance(
            String uuid,
            String profile,
            int gpuInstanceId,
            int computeInstanceId,
            long memoryBytes,
            String resource,
            int multiprocessors) {}

    /** How one device is offered several times; {@code replicas} is 1 without sharing. */
    public record Sharing(Strategy strategy, int replicas) {
        /** One holder at a time. */
        public static final Sharing UNSHARED = new Sharing(Strategy.NONE, 1);

        /** True when more than one holder may have the device. */
        public boolean shared() {
            return replicas > 1;
        }

        /** The means of sharing. */
        public enum Strategy {
            /** Not told. */
            UNKNOWN,
            /** One holder at a time. */
            NONE,
            /** Time-slicing by the driver. */
            TIME_SLICING,
            /** CUDA MPS. */
            MPS
        }
    }

    /** The daemon's own opinion of a device. */
    public enum LocalHealth {
        /** Not told. */
        UNKNOWN,
        /** Fit for work. */
        HEALTHY,
        /** Must not be handed out. */
        UNHEALTHY,
        /** Does not answer any more, or was there before and is not found now. */
        LOST
    }
}
