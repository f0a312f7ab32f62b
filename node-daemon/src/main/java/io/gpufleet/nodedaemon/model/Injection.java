package io.gpufleet.nodedaemon.model;

import io.gpufleet.nodedaemon.model.AllocationAnswer.DeviceNode;
import io.gpufleet.nodedaemon.model.AllocationAnswer.Mount;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * One way of making devices visible to a container. It is made when a list is put in force, so that a call only joins
 * what the devices of the request have ready.
 */
sealed interface Injection {
    /** By which NVIDIA's container runtime knows the devices. */
    String VISIBLE = "NVIDIA_VISIBLE_DEVICES";

    /** Adds the devices of one container. */
    void into(GrantDraft draft, List<Handle> devices);

    /**
     * What one device adds, without the number of its share.
     *
     * @param name UUID or index, as the settings say
     * @param cdi the same as a fully qualified CDI name
     * @param shared whether others may hold it as well
     */
    record Handle(String name, String cdi, List<DeviceNode> nodes, boolean shared) {}

    /** Names in the environment. */
    record ByEnvironment(Map<String, String> always) implements Injection {
        @Override
        public void into(GrantDraft draft, List<Handle> devices) {
            draft.environment.putAll(always);
            draft.environment.put(VISIBLE, devices.stream().map(Handle::name).collect(Collectors.joining(",")));
        }
    }

    /**
     * Names as mounts, which a pod can not forge as it can its environment; they win over {@link ByEnvironment}, so that
     * comes first.
     */
    record ByVolumes(Map<String, String> always, List<Mount> channels) implements Injection {
        static final String DIRECTORY = "/var/run/nvidia-container-devices";

        @Override
        public void into(GrantDraft draft, List<Handle> devices) {
            draft.environment.putAll(always);
            draft.environment.put(VISIBLE, DIRECTORY);
            devices.forEach(device -> draft.mounts.add(mark(device.name())));
            draft.mounts.addAll(channels);
        }

        /** Only the path says something, so nothing is mounted. */
        static Mount mark(String name) {
            return new Mount("/dev/null", DIRECTORY + "/" + name);
        }
    }

    /** CDI names in an annotation; the kubelet keeps one value a key, so each resource has its own. */
    record ByCdiAnnotation(String key, List<String> extras) implements Injection {
        private static final int LONGEST = 63;

        /** The key for a resource: what follows the prefix has 63 characters at most. */
        static String key(String prefix, String resource) {
            String name = "gpufleet_" + resource.replaceAll("[^A-Za-z0-9_.-]", "_");
            return prefix
                    + (name.length() <= LONGEST
                            ? name
                            : name.substring(0, LONGEST - 9) + "_" + String.format("%08x", resource.hashCode()));
        }

        @Override
        public void into(GrantDraft draft, List<Handle> devices) {
            var names = new ArrayList<String>();
            devices.forEach(device -> names.add(device.cdi()));
            names.addAll(extras);
            draft.annotations.put(key, String.join(",", names));
        }
    }

    /** CDI names in the field that the kubelet passes on. */
    record ByCdiField(List<String> extras) implements Injection {
        @Override
        public void into(GrantDraft draft, List<Handle> devices) {
            devices.forEach(device -> draft.cdiDevices.add(device.cdi()));
            draft.cdiDevices.addAll(extras);
        }
    }

    /** Device nodes, and beside them what a container finds nothing without. */
    record ByNodes(List<DeviceNode> control, List<Mount> mounts, List<DeviceNode> extras) implements Injection {
        @Override
        public void into(GrantDraft draft, List<Handle> devices) {
            draft.mounts.addAll(mounts);
            draft.nodes.addAll(control);
            devices.forEach(device -> draft.nodes.addAll(device.nodes()));
            draft.nodes.addAll(extras);
        }
    }

    /** Where the dynamic linker finds the driver; hides what the image says, so only on request. */
    record LibraryPath(String value) implements Injection {
        @Override
        public void into(GrantDraft draft, List<Handle> devices) {
            draft.environment.put("LD_LIBRARY_PATH", value);
        }
    }

    /** The way to the MPS control daemon of a resource, for those who share. */
    record ByMps(String pipe, List<Mount> mounts) implements Injection {
        /** The pipe where NVIDIA's plugin has it in a container; shared memory for this resource only. */
        static ByMps of(String folder, String resource) {
            String pipe = "/mps/" + resource + "/pipe";
            return new ByMps(
                    pipe,
                    List.of(new Mount(folder + "/pipe", pipe, false), new Mount(folder + "/shm", "/dev/shm", false)));
        }

        @Override
        public void into(GrantDraft draft, List<Handle> devices) {
            if (devices.stream().anyMatch(Handle::shared)) {
                draft.environment.put("CUDA_MPS_PIPE_DIRECTORY", pipe);
                draft.mounts.addAll(mounts);
            }
        }
    }
}
