package io.gpufleet.nodedaemon;

import io.gpufleet.kit.config.Environment;
import io.gpufleet.nodedaemon.cli.ProbeReport;
import io.gpufleet.nodedaemon.config.DaemonConfig;
import io.gpufleet.nodedaemon.model.allocation.ResourcePlan;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.device.KnownGpu;
import io.gpufleet.nodedaemon.pluginconfig.NvidiaPluginEnvironment;
import io.gpufleet.nodedaemon.pluginconfig.SettingsWatcher;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Makes the report of the command {@code probe}. Needs neither Kafka nor a kubelet. */
final class NodeProbe {
    private static final int EXIT_OK = 0;
    private static final int EXIT_SCAN_FAILED = 1;

    private static final Map<String, String> PLACEHOLDERS =
            Map.of("GPUFLEET_CLUSTER", "none", "GPUFLEET_KAFKA", "none:9092", "GPUFLEET_NODE", "probe");

    private NodeProbe() {}

    /** The exit status for a scan. */
    static int status(DeviceScan scan) {
        return scan instanceof DeviceScan.ScanSucceeded ? EXIT_OK : EXIT_SCAN_FAILED;
    }

    /** Makes the report of a scan and samples. */
    static ProbeReport report(Map<String, String> environment, DeviceScan scan, List<GpuSample> samples) {
        List<KnownGpu> gpus = switch (scan) {
            case DeviceScan.ScanSucceeded succeeded ->
                succeeded.gpus().stream()
                        .map(gpu -> new KnownGpu(gpu, new KnownGpu.Presence.Answering()))
                        .toList();
            case DeviceScan.ScanFailed _ -> List.of();
        };
        var sources = DeviceSources.settingsSources(configured(environment));
        var settings = new SettingsWatcher(sources, new NvidiaPluginEnvironment(environment), _ -> {});
        var selected = settings.selector().select(gpus);
        return new ProbeReport(scan, samples, ResourcePlan.of(gpus, selected.settings()), selected.origin());
    }

    /** Reads the daemon's settings, with placeholders for those that only a daemon requires. */
    static DaemonConfig configured(Map<String, String> environment) {
        var values = new HashMap<>(PLACEHOLDERS);
        values.putAll(environment);
        return DaemonConfig.from(Environment.read(values, DaemonConfig.SETTINGS));
    }
}
