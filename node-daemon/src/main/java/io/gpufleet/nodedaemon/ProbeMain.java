package io.gpufleet.nodedaemon;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.kit.config.Environment;
import io.gpufleet.nodedaemon.app.DeviceSource;
import io.gpufleet.nodedaemon.app.ProbeReport;
import io.gpufleet.nodedaemon.config.DaemonConfig;
import io.gpufleet.nodedaemon.model.Look;
import java.util.Map;

/** The command {@code probe}: what the devices say of themselves, once. Needs neither Kafka nor a kubelet. */
final class ProbeMain {
    private static final int SEEN = 0;
    private static final int BLIND = 1;
    private static final int BAD_CONFIGURATION = 2;

    private ProbeMain() {}

    /** Prints the report; answers the exit status: 0 seen, 1 the driver does not answer, 2 bad configuration. */
    static int probe(Map<String, String> environment, boolean json) {
        try (DeviceSource source = open(environment)) {
            Look look = source.look();
            var report = new ProbeReport(look, source.vitals());
            System.out.println(json ? report.json() : report.table());
            return look instanceof Look.Seen ? SEEN : BLIND;
        } catch (ConfigurationException wrong) {
            System.err.println("node-daemon probe: " + wrong.getMessage());
            return BAD_CONFIGURATION;
        }
    }

    private static DeviceSource open(Map<String, String> environment) {
        Environment checked = Environment.read(environment, DaemonConfig.PROBE_SETTINGS);
        String node = checked.text("GPUFLEET_NODE");
        return Sources.open(DaemonConfig.devices(checked), node.isEmpty() ? "probe" : node);
    }
}
