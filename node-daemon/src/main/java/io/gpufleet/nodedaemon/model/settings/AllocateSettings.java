package io.gpufleet.nodedaemon.model.settings;

import java.util.List;
import java.util.Set;

/**
 * How Allocate makes devices visible.
 *
 * @param strategies how devices are made visible, at least one
 * @param deviceIdStrategy how a device is named in {@code NVIDIA_VISIBLE_DEVICES}
 * @param passDeviceSpecs whether the response also lists device nodes, for runtimes that do not set up the device cgroup
 * @param kernelInterfaces kernel interfaces that every container gets when the host has them
 * @param imex IMEX channels
 * @param cdiAnnotationPrefix of the annotation's key, for example {@code cdi.k8s.io/}
 * @param driver how containers find the driver
 * @param preStart whether the kubelet shall call PreStartContainer
 */
public record AllocateSettings(
        Set<DeviceListStrategy> strategies,
        DeviceIdStrategy deviceIdStrategy,
        boolean passDeviceSpecs,
        Set<KernelInterface> kernelInterfaces,
        ImexMode imex,
        String cdiAnnotationPrefix,
        Driver driver,
        boolean preStart) {
    /**
     * How containers find the driver.
     *
     * @param root directory of the driver on the host; {@code /} where images find it without our help
     * @param libraryPath whether {@code LD_LIBRARY_PATH} is set beside host mounts
     */
    public record Driver(String root, boolean libraryPath) {}

    /** How a device is named to a container. */
    public enum DeviceIdStrategy {
        /** Its UUID. */
        UUID,
        /** Its NVML index; {@code i:j} for a MIG instance. */
        INDEX
    }

    /** Kernel interfaces beside the GPU's own. */
    public enum KernelInterface {
        /** GPUDirect RDMA copies. */
        GDRCOPY,
        /** GPUDirect storage. */
        GDS,
        /** Mellanox OFED. */
        MOFED
    }

    /** IMEX channels: none, an optional channel 0, or a required one. */
    public enum ImexMode {
        /** No container gets a channel. */
        OFF,
        /** Channel 0 when the host has it. */
        OPTIONAL,
        /** Channel 0, or Allocate fails. */
        REQUIRED
    }

    /** The default of NVIDIA's plugin: the environment variable, by UUID. */
    public static final AllocateSettings DEFAULT = new AllocateSettings(
            Set.of(DeviceListStrategy.ENVVAR),
            DeviceIdStrategy.UUID,
            false,
            Set.of(),
            ImexMode.OFF,
            "cdi.k8s.io/",
            new Driver("/", false),
            false);

    /** Refuses settings that would make no device visible. */
    public AllocateSettings {
        strategies = Set.copyOf(strategies);
        kernelInterfaces = Set.copyOf(kernelInterfaces);
        if (strategies.isEmpty()) {
            throw new IllegalArgumentException("deviceListStrategy is empty; name at least one, for example envvar");
        }
    }

    /** Returns the same settings with other strategies. */
    public AllocateSettings with(Set<DeviceListStrategy> others) {
        return new AllocateSettings(
                others,
                deviceIdStrategy,
                passDeviceSpecs,
                kernelInterfaces,
                imex,
                cdiAnnotationPrefix,
                driver,
                preStart);
    }

    /** Returns the same settings with another driver root. */
    public AllocateSettings withDriverRoot(String root) {
        return new AllocateSettings(
                strategies,
                deviceIdStrategy,
                passDeviceSpecs,
                kernelInterfaces,
                imex,
                cdiAnnotationPrefix,
                new Driver(root, driver.libraryPath()),
                preStart);
    }

    /** Names of the strategies, sorted. */
    public List<String> strategyNames() {
        return strategies.stream().map(DeviceListStrategy::value).sorted().toList();
    }

    /** Whether containers get device nodes from this daemon; NVIDIA's container runtime makes its own. */
    public boolean passesDeviceNodes() {
        return passDeviceSpecs || usesCdi() || strategies.contains(DeviceListStrategy.HOST_MOUNTS);
    }

    /** Whether container runtimes have to resolve CDI names of this daemon. */
    public boolean usesCdi() {
        return strategies.contains(DeviceListStrategy.CDI_ANNOTATIONS)
                || strategies.contains(DeviceListStrategy.CDI_CRI);
    }
}
