package io.gpufleet.nodedaemon.nvml.reader;

import java.time.Duration;

/** The calls of NVML that are not made at every poll, how often they are made, and why not more often. */
public enum NvmlCallInterval {
    /** {@code nvmlDeviceValidateInforom}. */
    INFO_ROM_VALIDATION(
            Duration.ofHours(1), "reads the flash memory of the board; a corruption in between is an XID 93"),
    /** {@code nvmlGpmSampleGet}. */
    GPM_SAMPLE(
            Duration.ofSeconds(5),
            "GPUs are polled several times after a fault, and a sample reads all performance counters"),
    /** {@code nvmlDeviceGetPcieThroughput}, without GPM. */
    PCIE_THROUGHPUT(Duration.ofSeconds(5), "measures for 20 ms in each direction");

    private final Duration interval;
    private final String reason;

    NvmlCallInterval(Duration interval, String reason) {
        this.interval = interval;
        this.reason = reason;
    }

    /** Time for which a reading is used again. */
    public Duration interval() {
        return interval;
    }

    /** Why the call is not made more often. */
    public String reason() {
        return reason;
    }
}
