package io.gpufleet.nodedaemon.model;

import io.gpufleet.nodedaemon.model.settings.AllocateSettings.Extra;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings.IdNames;
import java.util.Locale;
import java.util.Set;

/**
 * What container runtimes resolve on this node by CDI: fully qualified names are {@code gpufleet.io/gpu=<name>}.
 *
 * @param written names of the spec that was written last
 * @param trouble why nothing is written, with what to do; empty when something is
 */
public record CdiNames(Set<String> written, String trouble) {
    /** Kind of our devices: a second file of NVIDIA's kind would make both unresolvable. */
    public static final String KIND = "gpufleet.io/gpu";

    /** Name of all GPUs at once. */
    public static final String ALL = "all";

    /** Name of IMEX channel 0. */
    public static final String IMEX = "imex-channel-0";

    /** Nobody has written a spec yet. */
    public static final CdiNames NOT_WRITTEN =
            new CdiNames(Set.of(), "the CDI spec is not written yet; it is as soon as the driver answers");

    /** Copies the set. */
    public CdiNames {
        written = Set.copyOf(written);
    }

    /** A name that CDI allows: older drivers have slashes in the UUIDs of MIG instances. */
    public static String of(Gpu gpu, Part part, IdNames names) {
        return part.name(gpu, names).replace('/', '_');
    }

    /** Name of a kernel interface beside the GPU's own. */
    public static String of(Extra extra) {
        return extra.name().toLowerCase(Locale.ROOT);
    }

    /** What a container runtime is asked for. */
    public static String qualified(String name) {
        return KIND + "=" + name;
    }
}
