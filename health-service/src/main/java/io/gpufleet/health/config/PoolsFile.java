package io.gpufleet.health.config;

import io.gpufleet.health.model.budget.DisruptionBudgets;
import io.gpufleet.health.model.budget.Limit;
import io.gpufleet.health.model.budget.Limits;
import io.gpufleet.health.model.budget.Mode;
import io.gpufleet.health.model.budget.Pool;
import io.gpufleet.health.model.budget.StormBrake;
import io.gpufleet.kit.config.ConfigurationException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Reads pools and limits from YAML. A mistake is reported with its place and the allowed values.
 *
 * <pre>
 * pools    [{name, selector: {label: value}, mode: observe or enforce, limits}], the first that selects a node counts
 * limits   of the nodes that no pool selects, default 10 % of nodes and devices
 * zone     limits of each zone (label topology.kubernetes.io/zone), default none
 * fleet    limits of all nodes, default none
 * brake    {percent, atLeast, within: ISO 8601 duration}, default 5, 10, PT5M
 *
 * limits   {nodes: {percent, absolute}, devices: {percent, absolute}}
 * </pre>
 */
public final class PoolsFile {
    /** Name of the pool of the nodes that no pool selects. */
    private static final String OTHERS = "default";

    private final String source;
    private final Mode mode;

    private PoolsFile(String source, Mode mode) {
        this.source = source;
        this.mode = mode;
    }

    /** Text of a file by path; {@code standard} and {@code unlimited} have none. The setting is named where it cannot be read. */
    public static String text(String setting, String nameOrPath) {
        return nameOrPath.equals("standard") || nameOrPath.equals("unlimited") ? "" : read(setting, nameOrPath);
    }

    /** The budgets of {@code standard}, {@code unlimited}, or the text of a file. */
    public static DisruptionBudgets of(Mode mode, String nameOrPath, String text) {
        return switch (nameOrPath) {
            case "standard" -> DisruptionBudgets.standard(mode);
            case "unlimited" ->
                new DisruptionBudgets(
                        List.of(),
                        new Pool(OTHERS, Map.of(), mode, Limits.NONE),
                        Limits.NONE,
                        Limits.NONE,
                        StormBrake.NONE);
            default -> parse(mode, nameOrPath, text);
        };
    }

    private static String read(String setting, String path) {
        try {
            Path file = Path.of(path);
            if (Files.size(file) > PolicyPackLoader.MAX_BYTES) {
                throw new ConfigurationException(setting + "='" + path + "' is longer than "
                        + PolicyPackLoader.MAX_BYTES / 1024 + " KiB; shorten it");
            }
            return Files.readString(file);
        } catch (IOException unreadable) {
            throw new ConfigurationException(setting + "='" + path
                    + "' is neither standard nor unlimited nor a file that can be read; name one of them");
        }
    }

    /** Parses a file; mistakes are reported with the name of the source. */
    static DisruptionBudgets parse(Mode mode, String source, String text) {
        var file = new PoolsFile(source, mode);
        Object document = StrictYaml.load("pools " + source, text);
        try {
            return file.protection(file.mapping("the file", document));
        } catch (IllegalArgumentException invalid) {
            throw new ConfigurationException("pools " + source + ": " + invalid.getMessage());
        }
    }

    private DisruptionBudgets protection(Map<?, ?> root) {
        keys("the file", root, Set.of("pools", "limits", "zone", "fleet", "brake"));
        return new DisruptionBudgets(
                root.containsKey("pools") ? pools(list("pools", root.get("pools"))) : List.of(),
                new Pool(OTHERS, Map.of(), mode, limits("limits", root, "limits", Limits.TENTH)),
                limits("zone", root, "zone", Limits.NONE),
                limits("fleet", root, "fleet", Limits.NONE),
                root.containsKey("brake") ? brake(root.get("brake")) : StormBrake.STANDARD);
    }

    /** Decisions and limits name a pool by its name. */
    private List<Pool> pools(List<?> values) {
        List<Pool> pools = values.stream().map(this::pool).toList();
        var names = new HashSet<>(Set.of(OTHERS));
        pools.stream()
                .map(Pool::name)
                .filter(name -> !names.add(name))
                .findFirst()
                .ifPresent(name -> {
                    throw invalid("pools." + name, "a name of its own");
                });
        return pools;
    }

    private Pool pool(Object value) {
        Map<?, ?> fields = mapping("pools[]", value);
        keys("pools[]", fields, Set.of("name", "selector", "mode", "limits"));
        String name = String.valueOf(fields.get("name"));
        String place = "pools." + name;
        var selector = new TreeMap<String, String>();
        mapping(place + ".selector", fields.get("selector"))
                .forEach((label, wanted) -> selector.put(String.valueOf(label), String.valueOf(wanted)));
        if (fields.get("name") == null || selector.isEmpty()) {
            throw invalid(place, "a name and a selector with a label");
        }
        Mode poolMode = switch (String.valueOf(fields.get("mode"))) {
            case "observe" -> Mode.OBSERVE;
            case "enforce" -> Mode.ENFORCE;
            case "null" -> mode;
            default -> throw invalid(place + ".mode=" + fields.get("mode"), "observe or enforce");
        };
        return new Pool(name, selector, poolMode, limits(place + ".limits", fields, "limits", Limits.TENTH));
    }

    /** A key without a value is a file that is half written, not a limit that is not wanted. */
    private Limits limits(String place, Map<?, ?> parent, String key, Limits otherwise) {
        if (!parent.containsKey(key)) {
            return otherwise;
        }
        Map<?, ?> fields = mapping(place, parent.get(key));
        keys(place, fields, Set.of("nodes", "devices"));
        return new Limits(
                limit(place + ".nodes", fields, "nodes", otherwise.nodes()),
                limit(place + ".devices", fields, "devices", otherwise.devices()));
    }

    private Limit limit(String place, Map<?, ?> parent, String key, Limit otherwise) {
        if (!parent.containsKey(key)) {
            return otherwise;
        }
        Map<?, ?> fields = mapping(place, parent.get(key));
        keys(place, fields, Set.of("percent", "absolute"));
        return new Limit(number(place, fields, "percent", 100), number(place, fields, "absolute", Integer.MAX_VALUE));
    }

    private StormBrake brake(@Nullable Object value) {
        Map<?, ?> fields = mapping("brake", value);
        keys("brake", fields, Set.of("percent", "atLeast", "within"));
        StormBrake standard = StormBrake.STANDARD;
        Object within = fields.get("within");
        try {
            return new StormBrake(
                    number("brake", fields, "percent", standard.percent()),
                    number("brake", fields, "atLeast", standard.atLeast()),
                    fields.containsKey("within") ? Duration.parse(String.valueOf(within)) : standard.within());
        } catch (DateTimeParseException malformed) {
            throw invalid("brake.within=" + within, "an ISO 8601 duration such as PT5M");
        }
    }

    private int number(String place, Map<?, ?> parent, String key, int otherwise) {
        if (!parent.containsKey(key)) {
            return otherwise;
        }
        if (parent.get(key) instanceof Integer number) {
            return number;
        }
        throw invalid(place + "." + key + "=" + parent.get(key), "a whole number");
    }

    private void keys(String place, Map<?, ?> fields, Set<String> allowed) {
        fields.keySet().forEach(key -> {
            if (!allowed.contains(String.valueOf(key))) {
                throw invalid(place + "." + key, "one of " + String.join(", ", new TreeSet<>(allowed)));
            }
        });
    }

    private Map<?, ?> mapping(String place, @Nullable Object value) {
        if (value instanceof Map<?, ?> map) {
            return map;
        }
        throw invalid(place, "a mapping");
    }

    private List<?> list(String place, @Nullable Object value) {
        if (value instanceof List<?> list) {
            return list;
        }
        throw invalid(place, "a list");
    }

    private ConfigurationException invalid(String place, String allowed) {
        return new ConfigurationException("pools " + source + ": " + place + " takes " + allowed);
    }
}
