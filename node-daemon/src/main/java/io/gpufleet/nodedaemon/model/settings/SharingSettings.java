package io.gpufleet.nodedaemon.model.settings;

import java.util.List;
import java.util.Set;

/**
 * Which devices are offered several times.
 *
 * @param mode how the holders of one device share it
 * @param renameByDefault whether a shared resource is offered as {@code <name>.shared}
 * @param failGreaterThanOne whether a container that requests two replicas is refused: they give no more than one
 * @param resources shared resources; several entries of one resource give its devices different replica counts
 * @param mpsRoot directory on the host where MPS control daemons keep their pipes, one directory per resource
 */
public record SharingSettings(
        SharingMode mode,
        boolean renameByDefault,
        boolean failGreaterThanOne,
        List<SharedResource> resources,
        String mpsRoot) {
    /** The MPS directory of NVIDIA's charts. */
    private static final String DEFAULT_MPS_ROOT = "/run/nvidia/mps";

    /** How the holders of one device share it. */
    public enum SharingMode {
        /** One holder at a time. */
        NONE,
        /** The driver time-slices between the holders. */
        TIME_SLICING,
        /** CUDA MPS: a control daemon per resource. */
        MPS
    }

    /**
     * One resource with shared devices.
     *
     * @param resource name before any renaming, for example {@code nvidia.com/gpu}
     * @param rename name under which it is offered; empty for the default of the plan
     * @param devices which of them
     * @param replicas how often each is offered, at least 2
     */
    public record SharedResource(String resource, String rename, DeviceSelector devices, int replicas) {
        /** Refuses fewer than two replicas. */
        public SharedResource {
            if (replicas < 2) {
                throw new IllegalArgumentException("sharing of " + resource + " with replicas " + replicas
                        + "; write 2 or more, or leave the entry out");
            }
        }
    }

    /** Selects devices of a resource. */
    public sealed interface DeviceSelector {
        /** All devices. */
        record All() implements DeviceSelector {}

        /** The first devices by index. */
        record First(int count) implements DeviceSelector {}

        /** Devices by UUID, by index, or by {@code <gpu index>:<instance index>}. */
        record Listed(Set<String> names) implements DeviceSelector {
            /** Copies. */
            public Listed {
                names = Set.copyOf(names);
            }
        }
    }

    /** Nothing is shared. */
    public static final SharingSettings NONE = new SharingSettings(SharingMode.NONE, false, false, List.of());

    /** Copies the list. */
    public SharingSettings {
        resources = List.copyOf(resources);
    }

    /** Returns the directory that the MPS control daemon of a resource shares with its clients. */
    public String mpsDirectory(String resource) {
        return mpsRoot + "/" + resource;
    }

    /** Makes a plan with MPS at its default directory. */
    public SharingSettings(
            SharingMode means, boolean renameByDefault, boolean failGreaterThanOne, List<SharedResource> resources) {
        this(means, renameByDefault, failGreaterThanOne, resources, DEFAULT_MPS_ROOT);
    }
}
