package io.gpufleet.nodedaemon;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.nodedaemon.app.device.DeviceSource;
import io.gpufleet.nodedaemon.config.DaemonConfig;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import java.util.Map;

/** The command {@code probe}: prints one scan and sample of the devices. Needs neither Kafka nor a kubelet. */
final class ProbeMain {
    private static final int EXIT_INVALID_CONFIGURATION = 2;

    private ProbeMain() {}

    /** Prints the report; returns the exit status: 0 scanned, 1 the driver does not respond, 2 invalid configuration. */
    static int probe(Map<String, String> environment, boolean json) {
        try (DeviceSource source = open(environment)) {
            DeviceScan scan = source.scan();
            var report = NodeProbe.report(environment, scan, source.sample());
            System.out.print(json ? report.json() : report.table());
            return NodeProbe.status(scan);
        } catch (ConfigurationException invalid) {
            System.err.println("node-daemon probe: " + invalid.getMessage());
            return EXIT_INVALID_CONFIGURATION;
        }
    }

    /** Opens the devices of the environment; no other setting is required. */
    static DeviceSource open(Map<String, String> environment) {
        DaemonConfig config = NodeProbe.configured(environment);
        return DeviceSources.open(config.devices(), config.kafka().node());
    }
}
