package io.gpufleet.nodedaemon.model.settings;

import java.util.List;
import java.util.Set;

/**
 * Which devices are offered several times.
 *
 * @param means how the holders of one device share it
 * @param renameByDefault whether a shared resource is offered as {@code <name>.shared}
 * @param failGreaterThanOne whether a container that asks for two shares is refused: two shares are no more than one
 * @param resources what is shared; several entries of one resource give its devices replica counts of their own
 * @param mpsRoot directory on the host where MPS control daemons keep their pipes, one folder a resource
 */
public record SharePlan(
        Means means,
        boolean renameByDefault,
        boolean failGreaterThanOne,
        List<SharedResource> resources,
        String mpsRoot) {
    /** Where NVIDIA's charts put MPS. */
    private static final String USUAL_MPS_ROOT = "/run/nvidia/mps";

    /** How the holders of one device share it. */
    public enum Means {
        /** One holder at a time. */
        NONE,
        /** The driver gives each its turn. */
        TIME_SLICING,
        /** CUDA MPS: a control daemon per resource. */
        MPS
    }

    /**
     * One resource of which devices are shared.
     *
     * @param resource name before any renaming, for example {@code nvidia.com/gpu}
     * @param rename name under which it is offered; empty: by the plan's default
     * @param devices which of them
     * @param replicas how often each is offered, at least 2
     */
    public record SharedResource(String resource, String rename, Pick devices, int replicas) {
        /** Refuses less than two. */
        public SharedResource {
            if (replicas < 2) {
                throw new IllegalArgumentException("sharing of " + resource + " with replicas " + replicas
                        + "; write 2 or more, or leave the entry out");
            }
        }
    }

    /** Which devices of a resource. */
    public sealed interface Pick {
        /** Every one. */
        record All() implements Pick {}

        /** The first so many, by index. */
        record First(int count) implements Pick {}

        /** These: by UUID, by index, or {@code <gpu index>:<instance index>}. */
        record Listed(Set<String> names) implements Pick {
            /** Copies. */
            public Listed {
                names = Set.copyOf(names);
            }
        }
    }

    /** Nothing is shared. */
    public static final SharePlan NONE = new SharePlan(Means.NONE, false, false, List.of());

    /** Copies the list. */
    public SharePlan {
        resources = List.copyOf(resources);
    }

    /** Where the MPS control daemon of a resource and its clients meet. */
    public String mpsFolder(String resource) {
        return mpsRoot + "/" + resource;
    }

    /** With MPS at its usual place. */
    public SharePlan(Means means, boolean renameByDefault, boolean failGreaterThanOne, List<SharedResource> resources) {
        this(means, renameByDefault, failGreaterThanOne, resources, USUAL_MPS_ROOT);
    }
}
