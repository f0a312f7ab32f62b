package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.Gpu;
import io.gpufleet.nodedaemon.model.Look;
import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.Reading.Known;
import io.gpufleet.nodedaemon.model.Reading.Unavailable;
import io.gpufleet.nodedaemon.model.Vitals;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** What {@code probe} prints: one look and what each GPU says of itself, as a table for people and as JSON. */
public record ProbeReport(Look look, List<Vitals> vitals) {
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
            "RECOVERY");
    private static final String NOT_READ = "-";

    /** Copies the list. */
    public ProbeReport {
        vitals = List.copyOf(vitals);
    }

    /** A summary line and a row a GPU; a dash where something could not be read, the reasons below. */
    public String table() {
        return switch (look) {
            case Look.Blind(Look.DriverTrouble trouble, String reason) ->
                "no devices can be seen, " + trouble + ": " + reason + "\n";
            case Look.Seen seen -> summary(seen) + rows(seen) + lost(seen) + reasons(seen);
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
        List<List<String>> rows = new ArrayList<>();
        rows.add(HEAD);
        seen.gpus().forEach(gpu -> rows.add(row(gpu)));
        int[] widths = IntStream.range(0, HEAD.size())
                .map(column -> rows.stream()
                        .mapToInt(row -> row.get(column).length())
                        .max()
                        .orElse(0))
                .toArray();
        return rows.stream()
                .map(row -> IntStream.range(0, row.size())
                        .mapToObj(column -> row.get(column)
                                + " ".repeat(widths[column] - row.get(column).length()))
                        .collect(Collectors.joining("  "))
                        .stripTrailing())
                .collect(Collectors.joining("\n", "\n", "\n"));
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
                cell(of(gpu, Vitals::recoveryAction), Object::toString));
    }

    private static <T> String cell(Reading<T> reading, Function<T, String> text) {
        return reading.map(text).orElse(NOT_READ);
    }

    private <T> Reading<T> of(Gpu gpu, Function<Vitals, Reading<T>> reading) {
        return vitals.stream()
                .filter(its -> its.gpuUuid().equals(gpu.uuid()))
                .findFirst()
                .map(reading)
                .orElse(new Unavailable<>("not asked"));
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
                                        .toList());
                });
    }

    private Map<String, Object> facts(Gpu gpu) {
        Map<String, Object> facts =
                fields("index", gpu.index(), "minor", gpu.minor(), "uuid", gpu.uuid(), "serial", gpu.serial());
        facts.putAll(fields("pciBusId", gpu.pciBusId(), "model", gpu.model(), "shortModel", gpu.shortModel()));
        facts.putAll(fields("family", gpu.family(), "computeCapability", gpu.computeCapability()));
        facts.putAll(fields("mode", gpu.mode(), "memoryBytes", gpu.memoryBytes(), "vbios", gpu.vbiosVersion()));
        facts.putAll(fields("numaNode", gpu.numaNode(), "migEnabled", gpu.migEnabled()));
        facts.putAll(fields("fabricClique", gpu.fabricClique(), "links", links(gpu)));
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

    /** Writes trees of maps, lists, readings and plain values, two spaces a level; a library would be too much for it. */
    private static final class JsonText {
        private JsonText() {}

        static String of(Object value) {
            return write(value, "") + "\n";
        }

        private static String write(Object value, String indent) {
            return switch (value) {
                case Map<?, ?> map ->
                    block(
                            map.entrySet().stream()
                                    .map(entry ->
                                            quoted(entry.getKey()) + ": " + write(entry.getValue(), indent + "  "))
                                    .toList(),
                            indent,
                            "{}");
                case List<?> list ->
                    block(list.stream().map(item -> write(item, indent + "  ")).toList(), indent, "[]");
                case Known<?>(Object known) -> write(known, indent);
                case Unavailable<?>(String reason) -> "{\"unavailable\": " + quoted(reason) + "}";
                case Number number -> number.toString();
                case Boolean bool -> bool.toString();
                default -> quoted(value);
            };
        }

        private static String block(List<String> items, String indent, String brackets) {
            return items.isEmpty()
                    ? brackets
                    : brackets.charAt(0) + "\n" + indent + "  " + String.join(",\n" + indent + "  ", items) + "\n"
                            + indent + brackets.charAt(1);
        }

        private static String quoted(Object value) {
            StringBuilder text = new StringBuilder("\"");
            value.toString().chars().forEach(c -> {
                if (c == '"' || c == '\\') {
                    text.append('\\').append((char) c);
                } else if (c < ' ') {
                    text.append(String.format("\\u%04x", c));
                } else {
                    text.append((char) c);
                }
            });
            return text.append('"').toString();
        }
    }
}
