package io.gpufleet.nodedaemon.cli;

import io.gpufleet.nodedaemon.model.device.ComputeProcess;
import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.device.GpuMetric;
import io.gpufleet.nodedaemon.model.device.GpuMetricReadings;
import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.device.ProcessOwner;
import io.gpufleet.nodedaemon.model.device.Reading.Unavailable;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The fields of samples, processes and links as {@code probe --json} prints them. */
final class ProbeFields {
    private ProbeFields() {}

    static Map<String, Object> facts(GpuSample its) {
        Map<String, Object> facts = fields("answers", its.answers(), "recoveryAction", its.recoveryAction());
        facts.putAll(fields("gpuUtilizationPercent", its.device().utilization().gpu()));
        facts.putAll(
                fields("memoryUtilizationPercent", its.device().utilization().memory()));
        facts.putAll(fields(
                "memoryUsedBytes",
                its.device().memoryUsedBytes(),
                "powerMilliwatts",
                its.device().power().milliwatts()));
        facts.putAll(fields(
                "temperatureCelsius",
                its.device().temperatureCelsius(),
                "smClockMhz",
                its.device().clocks().smMhz()));
        facts.putAll(fields(
                "memoryClockMhz",
                its.device().clocks().memoryMhz(),
                "energyMillijoules",
                its.device().power().energyMillijoules()));
        facts.putAll(fields(
                "pcieReplays",
                its.device().pcieReplays(),
                "clockEventReasons",
                its.device().clocks().eventReasons()));
        facts.put(
                "processes",
                its.processes().map(all -> all.stream().map(ProbeFields::facts).toList()));
        facts.put("metrics", metrics(its.metrics()));
        facts.put("health", HealthSummary.fields(its.health()));
        return facts;
    }

    /** Has the owner: {@code pod} with its UID, {@code host} or {@code mps}. */
    static Map<String, Object> facts(ComputeProcess process) {
        Map<String, Object> facts = fields("pid", process.pid(), "device", process.deviceUuid());
        facts.put("usedBytes", process.usedBytes());
        switch (process.owner()) {
            case ProcessOwner.Pod(String uid) -> facts.putAll(fields("owner", "pod", "podUid", uid));
            case ProcessOwner.Host _ -> facts.put("owner", "host");
            case ProcessOwner.Mps _ -> facts.put("owner", "mps");
            case ProcessOwner.Unknown(String reason) -> facts.put("owner", new Unavailable<>(reason));
        }
        return facts;
    }

    /** The metrics that were read. */
    static Map<String, Object> metrics(GpuMetricReadings metrics) {
        Map<String, Object> facts = new LinkedHashMap<>();
        for (GpuMetric metric : GpuMetric.values()) {
            if (metrics.readings().containsKey(metric)) {
                facts.put(metric.name().toLowerCase(Locale.ROOT), metrics.of(metric));
            }
        }
        return facts;
    }

    static List<Map<String, Object>> links(Gpu gpu) {
        return gpu.topology().links().stream()
                .map(link -> fields("peer", link.viaSwitch() ? "switch" : link.peerPciBusId(), "count", link.count()))
                .toList();
    }

    static Map<String, Object> fields(Object... namesAndValues) {
        Map<String, Object> fields = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            fields.put((String) namesAndValues[i], namesAndValues[i + 1]);
        }
        return fields;
    }
}
