package io.gpufleet.nodedaemon.model.allocation;

import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings.DeviceIdStrategy;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings.KernelInterface;
import java.util.Locale;
import java.util.Set;

/**
 * The CDI device names that container runtimes can resolve on this node; fully qualified: {@code gpufleet.io/gpu=<name>}.
 *
 * @param written names of the spec that was written last
 * @param problem why no spec is written, with the remedy; empty when one is
 */
public record CdiNames(Set<String> written, String problem) {
    /** CDI kind of our devices: a second spec of NVIDIA's kind would make the names of both unresolvable. */
    public static final String KIND = "gpufleet.io/gpu";

    /** Name of all GPUs together. */
    public static final String ALL = "all";

    /** Name of IMEX channel 0. */
    public static final String IMEX = "imex-channel-0";

    /** No spec is written yet. */
    public static final CdiNames NOT_WRITTEN =
            new CdiNames(Set.of(), "the CDI spec is not written yet; it will be when the driver responds");

    /** Copies the set. */
    public CdiNames {
        written = Set.copyOf(written);
    }

    /** Returns a valid CDI name for a UUID: older drivers have slashes in the UUIDs of MIG instances. */
    public static String of(Gpu gpu, GpuPartition partition, DeviceIdStrategy names) {
        return partition.name(gpu, names).replace('/', '_');
    }

    /** Returns the name of a kernel interface. */
    public static String of(KernelInterface extra) {
        return extra.name().toLowerCase(Locale.ROOT);
    }

    /** Returns the fully qualified name. */
    public static String qualified(String name) {
        return KIND + "=" + name;
    }
}
