package io.gpufleet.nodedaemon.nvml;

import io.gpufleet.nodedaemon.nvml.reader.NvmlCallInterval;
import java.nio.file.Path;
import java.time.Duration;

/**
 * How NVML is found, and how long its calls may take.
 *
 * @param library value of GPUFLEET_NVML_LIBRARY; empty to search
 * @param driverRoot directory below which the library is searched
 * @param proc directory in which the kernel lists the device nodes of MIG instances, {@code /proc}
 * @param deadline time after which a call is taken for hung; longer than attaching a GPU without persistence mode takes
 * @param slowReadingMaxAge age up to which a GPM sample or a PCIe throughput is used again
 */
public record NvmlSettings(String library, Path driverRoot, Path proc, Duration deadline, Duration slowReadingMaxAge) {
    /** Length of one wait for events; a release waits at most that long, and an idle daemon wakes as often. */
    static final Duration EVENT_WAIT_TIMEOUT = Duration.ofSeconds(1);

    /** Returns the same settings with another deadline. */
    public NvmlSettings withDeadline(Duration other) {
        return new NvmlSettings(library, driverRoot, proc, other, slowReadingMaxAge);
    }

    /** Settings of a node. */
    public static NvmlSettings of(String library, Path driverRoot) {
        return new NvmlSettings(
                library, driverRoot, Path.of("/proc"), Duration.ofSeconds(20), NvmlCallInterval.GPM_SAMPLE.interval());
    }
}
