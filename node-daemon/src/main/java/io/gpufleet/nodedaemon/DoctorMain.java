package io.gpufleet.nodedaemon;

import io.gpufleet.kit.config.Environment;
import io.gpufleet.nodedaemon.app.device.DeviceSource;
import io.gpufleet.nodedaemon.cli.DoctorReport;
import io.gpufleet.nodedaemon.config.DaemonConfig;
import io.gpufleet.nodedaemon.host.DaemonCheck;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import java.util.Map;
import org.slf4j.LoggerFactory;

/** The command {@code doctor} where no daemon runs that could report itself. */
final class DoctorMain {
    private DoctorMain() {}

    /** Prints the report; returns the exit status: 0 no check fails, 1 a check fails. */
    static int examine(Map<String, String> environment, boolean json) {
        // Here and not by the first of the concurrent checks, whose calls meanwhile would be replayed with a warning.
        LoggerFactory.getILoggerFactory();
        var config = DaemonConfig.from(Environment.read(environment, DaemonConfig.SETTINGS));
        var view = new NodeDoctor.DoctorView(
                () -> scan(config),
                () -> DaemonCheck.ready(config.http().host(), config.http().port()));
        DoctorReport report = NodeDoctor.report(environment, config, view);
        System.out.print(json ? report.json() : report.table());
        return NodeDoctor.status(report);
    }

    private static DeviceScan scan(DaemonConfig config) {
        try (DeviceSource source =
                DeviceSources.open(config.devices(), config.kafka().node())) {
            return source.scan();
        }
    }
}
