package io.gpufleet.nodedaemon.nvml;

import io.gpufleet.nodedaemon.app.device.PciDevices;
import io.gpufleet.nodedaemon.nvml.call.NvmlExecutors;
import io.gpufleet.nodedaemon.nvml.reader.ExpectedNvLinkCount;
import io.gpufleet.nodedaemon.nvml.reader.InfoRomValidator;
import java.time.Duration;

/** State of a session with NVML that is kept when NVML is reopened. */
record SessionContext(
        NvmlSettings settings,
        NvmlExecutors executors,
        NvmlFaultReporter reportedFaults,
        KnownGpus known,
        ExpectedNvLinkCount baseline,
        InfoRomValidator infoRoms,
        EventSetExclusions exclusions,
        PciDevices pci) {
    /** Time for which the GPUs that have answered wait for one that has not; it is read by the next poll then. */
    static final Duration STRAGGLER_WAIT = Duration.ofSeconds(2);
}
