package io.gpufleet.nodedaemon;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.kit.config.Environment;
import io.gpufleet.nodedaemon.app.DeviceSource;
import io.gpufleet.nodedaemon.app.ProbeReport;
import io.gpufleet.nodedaemon.config.DaemonConfig;
import io.gpufleet.nodedaemon.model.KnownGpu;
import io.gpufleet.nodedaemon.model.Look;
import io.gpufleet.nodedaemon.model.ResourcePlan;
import io.gpufleet.nodedaemon.model.Vitals;
import io.gpufleet.nodedaemon.settings.NvidiaEnvironment;
import io.gpufleet.nodedaemon.settings.SettingsDesk;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The command {@code probe}: what the devices say of themselves, once. Needs neither Kafka nor a kubelet. */
final class ProbeMain {
    private static final int SEEN = 0;
    private static final int BLIND = 1;
    private static final int BAD_CONFIGURATION = 2;

    private static final Map<String, String> STAND_INS =
            Map.of("GPUFLEET_CLUSTER", "none", "GPUFLEET_KAFKA", "none:9092", "GPUFLEET_NODE", "probe");

    private ProbeMain() {}

    /** Prints the report; answers the exit status: 0 seen, 1 the driver does not answer, 2 bad configuration. */
    static int probe(Map<String, String> environment, boolean json) {
        try (DeviceSource source = open(environment)) {
            Look look = source.look();
            var report = report(environment, look, source.vitals());
            System.out.println(json ? report.json() : report.table());
            return look instanceof Look.Seen ? SEEN : BLIND;
        } catch (ConfigurationException wrong) {
            System.err.println("node-daemon probe: " + wrong.getMessage());
            return BAD_CONFIGURATION;
        }
    }

    private static ProbeReport report(Map<String, String> environment, Look look, List<Vitals> vitals) {
        List<KnownGpu> gpus = switch (look) {
            case Look.Seen seen ->
                seen.gpus().stream()
                        .map(gpu -> new KnownGpu(gpu, new KnownGpu.Presence.Answering()))
                        .toList();
            case Look.Blind _ -> List.of();
        };
        var places = Sources.places(configured(environment));
        try (var desk = new SettingsDesk(places, new NvidiaEnvironment(environment), _ -> {})) {
            var chosen = desk.choice().on(gpus);
            return new ProbeReport(look, vitals, ResourcePlan.of(gpus, chosen.settings()), chosen.origin());
        }
    }

    /** The devices that the environment names, with no other setting needed. */
    static DeviceSource open(Map<String, String> environment) {
        DaemonConfig config = configured(environment);
        return Sources.open(config.devices(), config.kafka().node());
    }

    /** The daemon's settings; what only a daemon must be told has a stand-in. */
    static DaemonConfig configured(Map<String, String> environment) {
        var told = new HashMap<>(STAND_INS);
        told.putAll(environment);
        return DaemonConfig.from(Environment.read(told, DaemonConfig.SETTINGS));
    }
}
