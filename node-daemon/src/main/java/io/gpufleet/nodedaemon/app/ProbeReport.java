package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.ComputeProcess;
import io.gpufleet.nodedaemon.model.Gpu;
import io.gpufleet.nodedaemon.model.Look;
import io.gpufleet.nodedaemon.model.Meter;
import io.gpufleet.nodedaemon.model.Meters;
import io.gpufleet.nodedaemon.model.MigInstance;
import io.gpufleet.nodedaemon.model.PlannedDevice;
import io.gpufleet.nodedaemon.model.ProcessOwner;
import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.Reading.Unavailable;
import io.gpufleet.nodedaemon.model.ResourcePlan;
import io.gpufleet.nodedaemon.model.VgpuHost;
import io.gpufleet.nodedaemon.model.Vitals;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * What {@code probe} prints: one look, what each GPU says of itself, and what the kubelet would be offered, as tables for
 * people and as JSON.
 *
 * @param plan what would be offered
 * @param origin where the settings of the plan come from
 */
public record ProbeReport(Look look, List<Vitals> vitals, ResourcePlan plan, String origin) {
    private static final List<String> HEAD = List.of(
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
    private static final List<String> SLICE_HEAD =
            List.of("MIG", "UUID", "PROFILE", "MEMORY MiB", "USED MiB", "SMS", "GI", "CI");
    private static final List<String> RESOURCE_HEAD = List.of("RESOURCE", "DEVICES", "SHARED BY", "OFFERED");
    private static final String NOT_READ = "-";
    private static final double MIB = 1 << 20;

    /** Copies the list. */
    public ProbeReport {
        vitals = List.copyOf(vitals);
    }

    /** A summary line and a row a GPU; a dash where something could not be read, the reasons below. */
    public String table() {
        return switch (look) {
            case Look.Blind(Look.DriverTrouble trouble, String reason) ->
                "no devices can be seen, " + trouble + ": " + reason + "\n";
            case Look.Seen seen ->
                summary(seen) + rows(seen) + slices(seen) + resources() + conditions(seen) + lost(seen) + reasons(seen);
        };
    }

    private static String summary(Look.Seen seen) {
        return "driver " + seen.driverVersion() + ", CUDA "
                + (seen.cudaVersion().isEmpty() ? "unknown" : seen.cudaVersion()) + ", "
                + seen.gpus().size() + " GPUs, " + seen.lost().size() + " lost\n";
    }

    private String rows(Look.Seen seen) {
        if (seen.gpus().isEmpty()) {
            return "";
        }
        var table = new TextTable(HEAD);
        seen.gpus().forEach(gpu -> table.row(row(gpu)));
        return "\n" + table.text();
    }

    private String slices(Look.Seen seen) {
        var table = new TextTable(SLICE_HEAD);
        for (Gpu gpu : seen.gpus()) {
            for (MigInstance instance : gpu.instances()) {
                table.row(List.of(
                        gpu.index() + ":" + instance.index(),
                        instance.uuid(),
                        instance.profile(),
                        Long.toString(instance.attributes().memoryBytes() >> 20),
                        cell(
                                meter(gpu, instance, Meter.MEMORY_USED_BYTES),
                                bytes -> Long.toString((long) (bytes / MIB))),
                        Integer.toString(instance.attributes().multiprocessors()),
                        Integer.toString(instance.gpuInstance()),
                        Integer.toString(instance.computeInstance())));
            }
        }
        return table.isEmpty() ? "" : "\n" + table.text();
    }

    private Reading<Double> meter(Gpu gpu, MigInstance instance, Meter meter) {
        return of(gpu).flatMap(its -> its.slices().stream()
                        .filter(slice -> slice.migUuid().equals(instance.uuid()))
                        .findFirst())
                .map(slice -> slice.meters().of(meter))
                .orElse(new Unavailable<>("not asked"));
    }

    /** What the kubelet would be told; devices of one resource may be shared more or less than others. */
    private String resources() {
        var table = new TextTable(RESOURCE_HEAD);
        counts().forEach(count -> table.row(List.of(
                count.resource(),
                Integer.toString(count.devices()),
                count.replicas() == 1 ? NOT_READ : Integer.toString(count.replicas()),
                Integer.toString(count.offered()))));
        return (table.isEmpty() ? "" : "\nas " + origin + " says\n" + table.text())
                + plan.complaints().stream()
                        .map(complaint -> "\n" + complaint + "\n")
                        .collect(Collectors.joining());
    }

    /** Devices of a resource with the same number of replicas. */
    private record Count(String resource, int replicas, int offered) {
        private int devices() {
            return offered / replicas;
        }
    }

    private List<Count> counts() {
        var counts = new TreeMap<String, Count>();
        for (PlannedDevice device : plan.devices()) {
            counts.merge(
                    device.resource() + " " + device.replicas(),
                    new Count(device.resource(), device.replicas(), 1),
                    (a, b) -> new Count(a.resource(), a.replicas(), a.offered() + b.offered()));
        }
        return List.copyOf(counts.values());
    }

    private String conditions(Look.Seen seen) {
        return seen.gpus().stream()
                .flatMap(gpu -> of(gpu).stream()
                        .flatMap(its -> ConditionWords.of(its).stream())
                        .map(word -> "\nGPU " + gpu.index() + ": " + word))
                .collect(Collectors.collectingAndThen(
                        Collectors.joining(), words -> words.isEmpty() ? "" : words + "\n"));
    }

    private Optional<Vitals> of(Gpu gpu) {
        return vitals.stream().filter(its -> its.gpuUuid().equals(gpu.uuid())).findFirst();
    }

    private List<String> row(Gpu gpu) {
        return List.of(
                Integer.toString(gpu.index()),
                gpu.uuid(),
                gpu.model(),
                gpu.pciBusId(),
                cell(gpu.numaNode(), Object::toString),
                gpu.computeCapability(),
                cell(gpu.migEnabled(), enabled -> enabled ? "on" : "off"),
                Integer.toString(gpu.links().stream().mapToInt(Gpu.Link::count).sum()),
                cell(gpu.memoryBytes(), bytes -> Long.toString(bytes >> 20)),
                cell(of(gpu, Vitals::gpuUtilizationPercent), Object::toString),
                cell(of(gpu, Vitals::temperatureCelsius), Object::toString),
                cell(of(gpu, Vitals::powerMilliwatts), milliwatts -> Integer.toString(milliwatts / 1000)),
                cell(of(gpu, Vitals::processes), processes -> Integer.toString(processes.size())),
                cell(of(gpu, Vitals::recoveryAction), Object::toString));
    }

    private static <T> String cell(Reading<T> reading, Function<T, String> text) {
        return reading.map(text).orElse(NOT_READ);
    }

    private <T> Reading<T> of(Gpu gpu, Function<Vitals, Reading<T>> reading) {
        return of(gpu).map(reading).orElse(new Unavailable<>("not asked"));
    }

    private static String lost(Look.Seen seen) {
        return seen.lost().stream()
                .map(gpu -> "\nGPU " + gpu.index() + (gpu.pciBusId().isEmpty() ? "" : " at " + gpu.pciBusId())
                        + " does not answer: " + gpu.reason())
                .collect(Collectors.joining("", "", seen.lost().isEmpty() ? "" : "\n"));
    }

    /** Why there are dashes: each reason once, with what it concerns. */
    private String reasons(Look.Seen seen) {
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

    /** One JSON object; what could not be read is {@code {"unavailable": reason}}, never null and never absent. */
    public String json() {
        return JsonText.of(
                switch (look) {
                    case Look.Blind(Look.DriverTrouble trouble, String reason) ->
                        fields("state", trouble.name(), "reason", reason);
                    case Look.Seen seen ->
                        fields(
                                "state",
                                "SEEN",
                                "driver",
                                seen.driverVersion(),
                                "cuda",
                                seen.cudaVersion(),
                                "gpus",
                                seen.gpus().stream().map(this::facts).toList(),
                                "lost",
                                seen.lost().stream()
                                        .map(gpu -> fields(
                                                "index",
                                                gpu.index(),
                                                "pciBusId",
                                                gpu.pciBusId(),
                                                "reason",
                                                gpu.reason()))
                                        .toList(),
                                "resources",
                                counts().stream()
                                        .map(count -> fields(
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
                                "complaints",
                                plan.complaints());
                });
    }

    private Map<String, Object> facts(Gpu gpu) {
        Map<String, Object> facts =
                fields("index", gpu.index(), "minor", gpu.minor(), "uuid", gpu.uuid(), "serial", gpu.serial());
        facts.putAll(fields("pciBusId", gpu.pciBusId(), "model", gpu.model(), "shortModel", gpu.shortModel()));
        facts.putAll(fields("family", gpu.family(), "computeCapability", gpu.computeCapability()));
        facts.putAll(fields("mode", gpu.mode(), "memoryBytes", gpu.memoryBytes(), "vbios", gpu.vbiosVersion()));
        facts.putAll(fields("numaNode", gpu.numaNode(), "migEnabled", gpu.migEnabled()));
        facts.putAll(fields("fabricClique", gpu.fabricClique(), "links", links(gpu), "pciRoute", gpu.pciRoute()));
        facts.putAll(fields(
                "vgpuHostDriver",
                gpu.vgpuHost().map(VgpuHost::driverVersion),
                "vgpuHostBranch",
                gpu.vgpuHost().map(VgpuHost::driverBranch)));
        facts.put(
                "instances",
                gpu.instances().stream().map(instance -> facts(gpu, instance)).toList());
        vitals.stream().filter(its -> its.gpuUuid().equals(gpu.uuid())).forEach(its -> facts.putAll(facts(its)));
        return facts;
    }

    private static Map<String, Object> facts(Vitals its) {
        Map<String, Object> facts = fields("answers", its.answers(), "recoveryAction", its.recoveryAction());
        facts.putAll(fields("gpuUtilizationPercent", its.gpuUtilizationPercent()));
        facts.putAll(fields("memoryUtilizationPercent", its.memoryUtilizationPercent()));
        facts.putAll(fields("memoryUsedBytes", its.memoryUsedBytes(), "powerMilliwatts", its.powerMilliwatts()));
        facts.putAll(fields("temperatureCelsius", its.temperatureCelsius(), "smClockMhz", its.smClockMhz()));
        facts.putAll(fields("memoryClockMhz", its.memoryClockMhz(), "energyMillijoules", its.energyMillijoules()));
        facts.putAll(fields("pcieReplays", its.pcieReplays(), "clockEventReasons", its.clockEventReasons()));
        facts.put(
                "processes",
                its.processes().map(all -> all.stream().map(ProbeReport::facts).toList()));
        facts.put("meters", meters(its.meters()));
        facts.put("conditions", ConditionWords.facts(its.conditions()));
        return facts;
    }

    private Map<String, Object> facts(Gpu gpu, MigInstance instance) {
        MigInstance.Attributes share = instance.attributes();
        Map<String, Object> facts = fields("uuid", instance.uuid(), "profile", instance.profile());
        facts.putAll(fields("index", instance.index(), "gpuInstance", instance.gpuInstance()));
        facts.putAll(fields("computeInstance", instance.computeInstance(), "memoryBytes", share.memoryBytes()));
        facts.putAll(fields("multiprocessors", share.multiprocessors(), "gpuSlices", share.gpuSlices()));
        facts.putAll(fields("computeSlices", share.computeSlices(), "copyEngines", share.copyEngines()));
        facts.putAll(fields("decoders", share.decoders(), "encoders", share.encoders()));
        facts.putAll(fields("jpegs", share.jpegs(), "ofas", share.ofas()));
        facts.put("capabilityNodes", instance.capabilityNodes());
        facts.put(
                "placement",
                instance.placement()
                        .map(at -> fields("profileId", at.profileId(), "start", at.start(), "size", at.size())));
        of(gpu).stream()
                .flatMap(its -> its.slices().stream())
                .filter(slice -> slice.migUuid().equals(instance.uuid()))
                .forEach(slice -> facts.put("meters", meters(slice.meters())));
        return facts;
    }

    /** Whose it is: {@code pod} with its UID, {@code host} or {@code mps}. */
    private static Map<String, Object> facts(ComputeProcess process) {
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

    /** Those that were asked for. */
    private static Map<String, Object> meters(Meters meters) {
        Map<String, Object> facts = new LinkedHashMap<>();
        for (Meter meter : Meter.values()) {
            if (meters.readings().containsKey(meter)) {
                facts.put(meter.name().toLowerCase(Locale.ROOT), meters.of(meter));
            }
        }
        return facts;
    }

    private static List<Map<String, Object>> links(Gpu gpu) {
        return gpu.links().stream()
                .map(link -> fields("peer", link.viaSwitch() ? "switch" : link.peerPciBusId(), "count", link.count()))
                .toList();
    }

    private static Map<String, Object> fields(Object... namesAndValues) {
        Map<String, Object> fields = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            fields.put((String) namesAndValues[i], namesAndValues[i + 1]);
        }
        return fields;
    }
}
