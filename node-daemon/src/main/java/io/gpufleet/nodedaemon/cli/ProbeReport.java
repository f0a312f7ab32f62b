package io.gpufleet.nodedaemon.cli;

import io.gpufleet.nodedaemon.model.allocation.PlannedDevice;
import io.gpufleet.nodedaemon.model.allocation.ResourcePlan;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.device.GpuMetric;
import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.device.MigInstance;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.Reading.Unavailable;
import io.gpufleet.nodedaemon.model.device.VgpuHost;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The report of {@code probe}: one scan, one sample of each GPU, and the devices that the kubelet would be offered, as
 * tables and as JSON.
 *
 * @param plan devices that would be offered
 * @param origin source of the plan's settings
 */
public record ProbeReport(DeviceScan scan, List<GpuSample> samples, ResourcePlan plan, String origin) {
    private static final List<String> HEADER = List.of(
            "GPU",
            "UUID",
            "MODEL",
            "PCI BUS ID",
            "NUMA",
            "CC",
            "MIG",
            "NVLINKS",
            "MEMORY MiB",
            "UTIL %",
            "TEMP C",
            "POWER W",
            "PROCESSES",
            "RECOVERY");
    private static final List<String> MIG_HEADER =
            List.of("MIG", "UUID", "PROFILE", "MEMORY MiB", "USED MiB", "SMS", "GI", "CI");
    private static final List<String> RESOURCE_HEADER = List.of("RESOURCE", "DEVICES", "SHARED BY", "OFFERED");
    private static final String NOT_READ = "-";
    private static final double MIB = 1 << 20;

    /** Copies the list. */
    public ProbeReport {
        samples = List.copyOf(samples);
    }

    /** A summary line and one row per GPU; a dash for an unavailable reading, with the reasons below the tables. */
    public String table() {
        return switch (scan) {
            case DeviceScan.ScanFailed(DeviceScan.DriverProblem problem, String reason) ->
                "scan failed, " + problem + ": " + reason + "\n";
            case DeviceScan.ScanSucceeded seen ->
                summary(seen)
                        + rows(seen)
                        + migInstances(seen)
                        + resources()
                        + healthLines(seen)
                        + lost(seen)
                        + reasons(seen);
        };
    }

    private static String summary(DeviceScan.ScanSucceeded seen) {
        return "driver " + seen.driverVersion() + ", CUDA "
                + (seen.cudaVersion().isEmpty() ? "unknown" : seen.cudaVersion()) + ", "
                + seen.gpus().size() + " GPUs, " + seen.lost().size() + " lost\n";
    }

    private String rows(DeviceScan.ScanSucceeded seen) {
        if (seen.gpus().isEmpty()) {
            return "";
        }
        var table = new TextTable(HEADER);
        seen.gpus().forEach(gpu -> table.row(row(gpu)));
        return "\n" + table.text();
    }

    private String migInstances(DeviceScan.ScanSucceeded seen) {
        var table = new TextTable(MIG_HEADER);
        for (Gpu gpu : seen.gpus()) {
            for (MigInstance instance : gpu.instances()) {
                table.row(List.of(
                        gpu.index() + ":" + instance.index(),
                        instance.uuid(),
                        instance.profile(),
                        Long.toString(instance.attributes().memoryBytes() >> 20),
                        cell(
                                metric(gpu, instance, GpuMetric.MEMORY_USED_BYTES),
                                bytes -> Long.toString((long) (bytes / MIB))),
                        Integer.toString(instance.attributes().multiprocessors()),
                        Integer.toString(instance.gpuInstance()),
                        Integer.toString(instance.computeInstance())));
            }
        }
        return table.isEmpty() ? "" : "\n" + table.text();
    }

    private Reading<Double> metric(Gpu gpu, MigInstance instance, GpuMetric metric) {
        return of(gpu).flatMap(its -> its.migInstances().stream()
                        .filter(instanceSample -> instanceSample.migUuid().equals(instance.uuid()))
                        .findFirst())
                .map(instanceSample -> instanceSample.metrics().of(metric))
                .orElse(new Unavailable<>("not read"));
    }

    /** One row per resource and number of replicas, which may differ within a resource. */
    private String resources() {
        var table = new TextTable(RESOURCE_HEADER);
        counts().forEach(count -> table.row(List.of(
                count.resource(),
                Integer.toString(count.devices()),
                count.replicas() == 1 ? NOT_READ : Integer.toString(count.replicas()),
                Integer.toString(count.offered()))));
        return (table.isEmpty() ? "" : "\nresources by settings of " + origin + "\n" + table.text())
                + plan.warnings().stream().map(warning -> "\n" + warning + "\n").collect(Collectors.joining());
    }

    /** Devices of a resource with the same number of replicas. */
    private record ResourceCount(String resource, int replicas, int offered) {
        private int devices() {
            return offered / replicas;
        }
    }

    private List<ResourceCount> counts() {
        var counts = new TreeMap<String, ResourceCount>();
        for (PlannedDevice device : plan.devices()) {
            counts.merge(
                    device.resource() + " " + device.replicas(),
                    new ResourceCount(device.resource(), device.replicas(), 1),
                    (a, b) -> new ResourceCount(a.resource(), a.replicas(), a.offered() + b.offered()));
        }
        return List.copyOf(counts.values());
    }

    private String healthLines(DeviceScan.ScanSucceeded seen) {
        return seen.gpus().stream()
                .flatMap(gpu -> of(gpu).stream()
                        .flatMap(its -> HealthSummary.of(its).stream())
                        .map(line -> "\nGPU " + gpu.index() + ": " + line))
                .collect(Collectors.collectingAndThen(
                        Collectors.joining(), lines -> lines.isEmpty() ? "" : lines + "\n"));
    }

    private Optional<GpuSample> of(Gpu gpu) {
        return samples.stream().filter(its -> its.gpuUuid().equals(gpu.uuid())).findFirst();
    }

    private List<String> row(Gpu gpu) {
        return List.of(
                Integer.toString(gpu.index()),
                gpu.uuid(),
                gpu.model(),
                gpu.pciBusId(),
                cell(gpu.topology().numaNode(), Object::toString),
                gpu.product().computeCapability(),
                cell(gpu.mig().enabled(), enabled -> enabled ? "on" : "off"),
                Integer.toString(gpu.topology().links().stream()
                        .mapToInt(Gpu.NvLinkPeer::count)
                        .sum()),
                cell(gpu.memoryBytes(), bytes -> Long.toString(bytes >> 20)),
                cell(of(gpu, sample -> sample.device().utilization().gpu()), Object::toString),
                cell(of(gpu, sample -> sample.device().temperatureCelsius()), Object::toString),
                cell(
                        of(gpu, sample -> sample.device().power().milliwatts()),
                        milliwatts -> Integer.toString(milliwatts / 1000)),
                cell(of(gpu, GpuSample::processes), processes -> Integer.toString(processes.size())),
                cell(of(gpu, GpuSample::recoveryAction), Object::toString));
    }

    private static <T> String cell(Reading<T> reading, Function<T, String> text) {
        return reading.map(text).orElse(NOT_READ);
    }

    private <T> Reading<T> of(Gpu gpu, Function<GpuSample, Reading<T>> reading) {
        return of(gpu).map(reading).orElse(new Unavailable<>("not read"));
    }

    private static String lost(DeviceScan.ScanSucceeded seen) {
        return seen.lost().stream()
                .map(gpu -> "\nGPU " + gpu.index() + (gpu.pciBusId().isEmpty() ? "" : " at " + gpu.pciBusId())
                        + " does not respond: " + gpu.reason())
                .collect(Collectors.joining("", "", seen.lost().isEmpty() ? "" : "\n"));
    }

    /** Each reason of unavailable readings once, with the names of the readings. */
    private String reasons(DeviceScan.ScanSucceeded seen) {
        Map<String, List<String>> byReason = new LinkedHashMap<>();
        for (Gpu gpu : seen.gpus()) {
            facts(gpu).forEach((name, value) -> {
                if (value instanceof Unavailable<?>(String reason)) {
                    List<String> names = byReason.computeIfAbsent(reason, _ -> new ArrayList<>());
                    if (!names.contains(name)) {
                        names.add(name);
                    }
                }
            });
        }
        return byReason.entrySet().stream()
                .map(entry -> "\n" + entry.getKey() + ": " + String.join(", ", entry.getValue()))
                .collect(Collectors.joining("", "", byReason.isEmpty() ? "" : "\n"));
    }

    /** One JSON object; an unavailable reading is {@code {"unavailable": reason}}, never null or absent. */
    public String json() {
        return ReportJson.encode(
                switch (scan) {
                    case DeviceScan.ScanFailed(DeviceScan.DriverProblem problem, String reason) ->
                        ProbeFields.fields("state", problem.name(), "reason", reason);
                    case DeviceScan.ScanSucceeded seen ->
                        ProbeFields.fields(
                                "state",
                                "SCANNED",
                                "driver",
                                seen.driverVersion(),
                                "cuda",
                                seen.cudaVersion(),
                                "gpus",
                                seen.gpus().stream().map(this::facts).toList(),
                                "lost",
                                seen.lost().stream()
                                        .map(gpu -> ProbeFields.fields(
                                                "index",
                                                gpu.index(),
                                                "pciBusId",
                                                gpu.pciBusId(),
                                                "reason",
                                                gpu.reason()))
                                        .toList(),
                                "resources",
                                counts().stream()
                                        .map(count -> ProbeFields.fields(
                                                "name",
                                                count.resource(),
                                                "devices",
                                                count.devices(),
                                                "replicas",
                                                count.replicas(),
                                                "offered",
                                                count.offered()))
                                        .toList(),
                                "settings",
                                origin,
                                "warnings",
                                plan.warnings());
                });
    }

    private Map<String, Object> facts(Gpu gpu) {
        Map<String, Object> facts = ProbeFields.fields(
                "index",
                gpu.index(),
                "minor",
                gpu.identifiers().minor(),
                "uuid",
                gpu.uuid(),
                "serial",
                gpu.identifiers().serial());
        facts.putAll(ProbeFields.fields(
                "pciBusId",
                gpu.pciBusId(),
                "model",
                gpu.model(),
                "shortModel",
                gpu.product().shortModel()));
        facts.putAll(ProbeFields.fields(
                "family",
                gpu.product().family(),
                "computeCapability",
                gpu.product().computeCapability()));
        facts.putAll(ProbeFields.fields(
                "mode",
                gpu.product().mode(),
                "memoryBytes",
                gpu.memoryBytes(),
                "vbios",
                gpu.identifiers().vbiosVersion()));
        facts.putAll(ProbeFields.fields(
                "numaNode", gpu.topology().numaNode(), "migEnabled", gpu.mig().enabled()));
        facts.putAll(ProbeFields.fields(
                "fabricClique",
                gpu.topology().fabricClique(),
                "links",
                ProbeFields.links(gpu),
                "pciRoute",
                gpu.topology().pciRoute()));
        facts.putAll(ProbeFields.fields(
                "vgpuHostDriver",
                gpu.vgpuHost().map(VgpuHost::driverVersion),
                "vgpuHostBranch",
                gpu.vgpuHost().map(VgpuHost::driverBranch)));
        facts.put(
                "instances",
                gpu.instances().stream().map(instance -> facts(gpu, instance)).toList());
        samples.stream()
                .filter(its -> its.gpuUuid().equals(gpu.uuid()))
                .forEach(its -> facts.putAll(ProbeFields.facts(its)));
        return facts;
    }

    private Map<String, Object> facts(Gpu gpu, MigInstance instance) {
        MigInstance.Attributes share = instance.attributes();
        Map<String, Object> facts = ProbeFields.fields("uuid", instance.uuid(), "profile", instance.profile());
        facts.putAll(ProbeFields.fields("index", instance.index(), "gpuInstance", instance.gpuInstance()));
        facts.putAll(
                ProbeFields.fields("computeInstance", instance.computeInstance(), "memoryBytes", share.memoryBytes()));
        facts.putAll(ProbeFields.fields(
                "multiprocessors",
                share.multiprocessors(),
                "gpuSlices",
                share.slices().gpu()));
        facts.putAll(ProbeFields.fields(
                "computeSlices",
                share.slices().compute(),
                "copyEngines",
                share.engines().copy()));
        facts.putAll(ProbeFields.fields(
                "decoders",
                share.engines().decoder(),
                "encoders",
                share.engines().encoder()));
        facts.putAll(ProbeFields.fields(
                "jpegs", share.engines().jpeg(), "ofas", share.engines().ofa()));
        facts.put("capabilityNodes", instance.capabilityNodes());
        facts.put(
                "placement",
                instance.placement()
                        .map(at -> ProbeFields.fields(
                                "profileId", at.profileId(), "start", at.start(), "size", at.size())));
        of(gpu).stream()
                .flatMap(its -> its.migInstances().stream())
                .filter(instanceSample -> instanceSample.migUuid().equals(instance.uuid()))
                .forEach(instanceSample -> facts.put("metrics", ProbeFields.metrics(instanceSample.metrics())));
        return facts;
    }
}
