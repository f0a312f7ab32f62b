package io.gpufleet.nodedaemon.http;

import java.util.Optional;

/** Makes the reports of the commands {@code doctor} and {@code probe} in the daemon that runs. */
public interface DiagnosticReports {
    /**
     * Makes a report; blocks.
     *
     * @param devices the caller's devices, as in GPUFLEET_DEVICES; empty when the daemon has others
     */
    Optional<OperatorReport> report(String command, String devices, boolean json);

    /** A report, and the status with which the command exits. */
    record OperatorReport(String text, int exitStatus) {}
}
