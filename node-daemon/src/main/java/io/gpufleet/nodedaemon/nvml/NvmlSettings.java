package io.gpufleet.nodedaemon.nvml;

import java.nio.file.Path;
import java.time.Duration;

/**
 * How the library is found and how long is waited for it.
 *
 * @param library value of GPUFLEET_NVML_LIBRARY; empty to search
 * @param driverRoot below which is searched
 * @param sysfs where PCI class and NUMA node are read, {@code /sys}
 * @param proc where the kernel tells which device nodes a MIG instance has, {@code /proc}
 * @param deadline after which a call is taken for hung; must outlast the attaching of a GPU without persistence mode
 * @param pollInterval how often each GPU is asked whether it still answers
 * @param costlyAge how old a reading may be that takes the GPU long, before it is read again
 */
public record NvmlSettings(
        String library,
        Path driverRoot,
        Path sysfs,
        Path proc,
        Duration deadline,
        Duration pollInterval,
        Duration costlyAge) {
    /** One wait for events; a release has to wait that long at most. */
    static final Duration WAIT_SLICE = Duration.ofMillis(50);

    /** The same, less or more patient. */
    public NvmlSettings within(Duration patience) {
        return new NvmlSettings(library, driverRoot, sysfs, proc, patience, pollInterval, costlyAge);
    }

    /** What a node uses. */
    public static NvmlSettings of(String library, Path driverRoot) {
        return new NvmlSettings(
                library,
                driverRoot,
                Path.of("/sys"),
                Path.of("/proc"),
                Duration.ofSeconds(20),
                Duration.ofSeconds(5),
                Duration.ofSeconds(5));
    }
}
