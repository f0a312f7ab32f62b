package io.gpufleet.nodedaemon.model.allocation;

import io.gpufleet.nodedaemon.model.allocation.AllocationResult.DeviceNode;
import io.gpufleet.nodedaemon.model.allocation.AllocationResult.Mount;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * One way of making devices visible to a container. Made per device list, so that an Allocate call only merges the prepared
 * values of the requested devices.
 */
sealed interface DeviceInjection {
    /** The variable that NVIDIA's container runtime reads. */
    String VISIBLE_DEVICES = "NVIDIA_VISIBLE_DEVICES";

    /** Adds the devices of one container to its allocation. */
    void apply(ContainerAllocationBuilder draft, List<InjectedDevice> devices);

    /**
     * Names of one device, without the number of its replica.
     *
     * @param name UUID or index, as the settings say
     * @param cdi its fully qualified CDI name
     * @param shared whether other containers may hold it as well
     */
    record InjectedDevice(String name, String cdi, List<DeviceNode> nodes, boolean shared) {}

    /** Device names in the environment. */
    record ByEnvironment(Map<String, String> always) implements DeviceInjection {
        @Override
        public void apply(ContainerAllocationBuilder draft, List<InjectedDevice> devices) {
            draft.environment.putAll(always);
            draft.environment.put(
                    VISIBLE_DEVICES, devices.stream().map(InjectedDevice::name).collect(Collectors.joining(",")));
        }
    }

    /**
     * Device names as mounts, which a pod cannot forge as it can its environment; they win over {@link EnvironmentInjection},
     * which therefore comes first.
     */
    record ByVolumes(Map<String, String> always, List<Mount> channels) implements DeviceInjection {
        static final String DIRECTORY = "/var/run/nvidia-container-devices";

        @Override
        public void apply(ContainerAllocationBuilder draft, List<InjectedDevice> devices) {
            draft.environment.putAll(always);
            draft.environment.put(VISIBLE_DEVICES, DIRECTORY);
            devices.forEach(device -> draft.mounts.add(deviceMount(device.name())));
            draft.mounts.addAll(channels);
        }

        /** Only the mount's path carries the name, so its source is {@code /dev/null}. */
        static Mount deviceMount(String name) {
            return new Mount("/dev/null", DIRECTORY + "/" + name);
        }
    }

    /** CDI names in an annotation; the kubelet keeps one value per key, so each resource has its own key. */
    record ByCdiAnnotation(String key, List<String> extras, Map<String, String> always) implements DeviceInjection {
        private static final int MAX_LENGTH = 63;

        /** Returns the key of a resource: the part after the prefix has at most 63 characters. */
        static String key(String prefix, String resource) {
            String name = "gpufleet_" + resource.replaceAll("[^A-Za-z0-9_.-]", "_");
            return prefix
                    + (name.length() <= MAX_LENGTH
                            ? name
                            : name.substring(0, MAX_LENGTH - 9) + "_" + String.format("%08x", resource.hashCode()));
        }

        @Override
        public void apply(ContainerAllocationBuilder draft, List<InjectedDevice> devices) {
            var names = new ArrayList<String>();
            devices.forEach(device -> names.add(device.cdi()));
            names.addAll(extras);
            draft.annotations.put(key, String.join(",", names));
            draft.environment.putAll(always);
        }
    }

    /** CDI names in the CDIDevices field of the kubelet's API. */
    record ByCdiField(List<String> extras, Map<String, String> always) implements DeviceInjection {
        @Override
        public void apply(ContainerAllocationBuilder draft, List<InjectedDevice> devices) {
            devices.forEach(device -> draft.cdiDevices.add(device.cdi()));
            draft.cdiDevices.addAll(extras);
            draft.environment.putAll(always);
        }
    }

    /** Device nodes, and the mounts and variables that a container needs to use them. */
    record ByDeviceNodes(List<DeviceNode> control, List<Mount> mounts, List<DeviceNode> extras)
            implements DeviceInjection {
        @Override
        public void apply(ContainerAllocationBuilder draft, List<InjectedDevice> devices) {
            draft.mounts.addAll(mounts);
            draft.nodes.addAll(control);
            devices.forEach(device -> draft.nodes.addAll(device.nodes()));
            draft.nodes.addAll(extras);
        }
    }

    /**
     * Keeps NVIDIA's container runtime, where it is the default of the node, from adding devices: an image that says
     * {@code NVIDIA_VISIBLE_DEVICES=all} would see every GPU. Comes after the strategies that name devices to the runtime.
     */
    record NoVisibleDevices() implements DeviceInjection {
        @Override
        public void apply(ContainerAllocationBuilder draft, List<InjectedDevice> devices) {
            draft.environment.putIfAbsent(VISIBLE_DEVICES, "void");
        }
    }

    /** Search path of the dynamic linker; it hides the image's own, so only on request. */
    record LibraryPath(String value) implements DeviceInjection {
        @Override
        public void apply(ContainerAllocationBuilder draft, List<InjectedDevice> devices) {
            draft.environment.put("LD_LIBRARY_PATH", value);
        }
    }

    /** Connects shared devices to the MPS control daemon of their resource. */
    record ByMps(String pipe, List<Mount> mounts) implements DeviceInjection {
        /** The pipe directory as in NVIDIA's plugin; shared memory for this resource only. */
        static ByMps of(String directory, String resource) {
            String pipe = "/mps/" + resource + "/pipe";
            return new ByMps(
                    pipe,
                    List.of(
                            new Mount(directory + "/pipe", pipe, false),
                            new Mount(directory + "/shm", "/dev/shm", false)));
        }

        @Override
        public void apply(ContainerAllocationBuilder draft, List<InjectedDevice> devices) {
            if (devices.stream().anyMatch(InjectedDevice::shared)) {
                draft.environment.put("CUDA_MPS_PIPE_DIRECTORY", pipe);
                draft.mounts.addAll(mounts);
            }
        }
    }
}
