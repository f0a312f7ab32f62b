package io.gpufleet.nodedaemon.model.settings;

import java.util.Set;

/**
 * How Allocate answers.
 *
 * @param strategies how devices are made visible, at least one
 * @param names by what a device is named in {@code NVIDIA_VISIBLE_DEVICES}
 * @param passDeviceSpecs whether device nodes are named as well, for runtimes without the device cgroup of their own
 * @param extras kernel interfaces that every container gets where the host has them
 * @param imex IMEX channels
 * @param cdiAnnotationPrefix of the annotation's key, for example {@code cdi.k8s.io/}
 * @param driverRoot directory of the driver on the host; {@code /} means that images find it otherwise
 * @param libraryPath whether {@code LD_LIBRARY_PATH} is set beside host mounts
 * @param preStart whether the kubelet is asked to call PreStartContainer
 */
public record AllocateSettings(
        Set<Strategy> strategies,
        IdNames names,
        boolean passDeviceSpecs,
        Set<Extra> extras,
        Imex imex,
        String cdiAnnotationPrefix,
        String driverRoot,
        boolean libraryPath,
        boolean preStart) {
    /** By what a device is named to a container. */
    public enum IdNames {
        /** Its UUID. */
        UUID,
        /** Its NVML index; {@code i:j} for a MIG instance. */
        INDEX
    }

    /** Kernel interfaces beside the GPU's own. */
    public enum Extra {
        /** GPUDirect RDMA copies. */
        GDRCOPY,
        /** GPUDirect storage. */
        GDS,
        /** Mellanox OFED. */
        MOFED
    }

    /** IMEX channels: none, an optional channel 0, or a required one. */
    public enum Imex {
        /** No container gets a channel. */
        OFF,
        /** Channel 0 where the host has it. */
        OPTIONAL,
        /** Channel 0, or Allocate fails. */
        REQUIRED
    }

    /** The answer of NVIDIA's plugin by default: the environment variable, by UUID. */
    public static final AllocateSettings STANDARD = new AllocateSettings(
            Set.of(Strategy.ENVVAR), IdNames.UUID, false, Set.of(), Imex.OFF, "cdi.k8s.io/", "/", false, false);

    /** Refuses an answer that would make no device visible. */
    public AllocateSettings {
        strategies = Set.copyOf(strategies);
        extras = Set.copyOf(extras);
        if (strategies.isEmpty()) {
            throw new IllegalArgumentException("deviceListStrategy is empty; name at least one, for example envvar");
        }
    }

    /** The same with other strategies. */
    public AllocateSettings with(Set<Strategy> others) {
        return new AllocateSettings(
                others, names, passDeviceSpecs, extras, imex, cdiAnnotationPrefix, driverRoot, libraryPath, preStart);
    }

    /** The same with the driver in another place. */
    public AllocateSettings at(String root) {
        return new AllocateSettings(
                strategies, names, passDeviceSpecs, extras, imex, cdiAnnotationPrefix, root, libraryPath, preStart);
    }

    /** Whether container runtimes have to resolve names of ours. */
    public boolean cdi() {
        return strategies.contains(Strategy.CDI_ANNOTATIONS) || strategies.contains(Strategy.CDI_CRI);
    }
}
