package io.gpufleet.nodedaemon;

import io.gpufleet.nodedaemon.app.DoctorFinding;
import io.gpufleet.nodedaemon.app.NodeLoop;
import io.gpufleet.nodedaemon.app.NodeSnapshot;
import io.gpufleet.nodedaemon.cli.DoctorReport;
import io.gpufleet.nodedaemon.cli.ProbeReport;
import io.gpufleet.nodedaemon.config.DaemonConfig;
import io.gpufleet.nodedaemon.http.DiagnosticReports;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The reports of {@code doctor} and {@code probe} by the daemon that runs: of its last scan and samples, so that no second
 * process opens the driver and none needs the memory of another virtual machine.
 */
record LiveDiagnostics(
        Map<String, String> environment,
        DaemonConfig config,
        Supplier<NodeLoop.LoopStatus> status,
        Supplier<List<String>> readinessFailures)
        implements DiagnosticReports {
    @Override
    public Optional<OperatorReport> report(String command, String devices, boolean json) {
        if (!devices.equals(config.devices().source())) {
            return Optional.empty();
        }
        return switch (command) {
            case "doctor" -> Optional.of(doctor(json));
            case "probe" -> Optional.of(probe(json));
            default -> Optional.empty();
        };
    }

    private OperatorReport doctor(boolean json) {
        DoctorReport report =
                NodeDoctor.report(environment, config, new NodeDoctor.DoctorView(this::lastScan, this::daemon));
        return new OperatorReport(json ? report.json() : report.table(), NodeDoctor.status(report));
    }

    private OperatorReport probe(boolean json) {
        NodeSnapshot snapshot = status.get().snapshot();
        ProbeReport report = NodeProbe.report(environment, snapshot.devices().lastScan(), snapshot.samples());
        return new OperatorReport(json ? report.json() : report.table(), NodeProbe.status(lastScan()));
    }

    private DeviceScan lastScan() {
        return status.get().snapshot().devices().lastScan();
    }

    private DoctorFinding daemon() {
        String process = "process " + ProcessHandle.current().pid() + " reports this";
        List<String> reasons = readinessFailures.get();
        return reasons.isEmpty()
                ? DoctorFinding.ok("daemon", "ready, " + process)
                : DoctorFinding.fail(
                        "daemon", "not ready: " + String.join("; ", reasons) + "; " + process, "see its log");
    }
}
