package io.gpufleet.health.config;

import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.fault.FaultKind;
import io.gpufleet.health.model.fault.RecommendedAction;
import io.gpufleet.health.model.fault.RecoveryAction;
import io.gpufleet.health.model.policy.BootLimit;
import io.gpufleet.health.model.policy.FaultClass;
import io.gpufleet.health.model.policy.FaultRule;
import io.gpufleet.health.model.policy.HealthPolicy;
import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.xid.ImmediateAction;
import io.gpufleet.xid.XidCatalogue;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import org.yaml.snakeyaml.error.YAMLException;

/**
 * Reads a policy pack from YAML. A mistake is reported with its place and the allowed values.
 *
 * <pre>
 * policy            name of the pack
 * recoveryDwell     ISO 8601 duration, default PT0S
 * bootLimit         {boots: number, within: ISO 8601 duration}, default 2 in P7D
 * immediateActions  IMMEDIATE_ACTION: rule, one for each of NVIDIA's immediate actions of XIDs
 * xids, sxids       number: rule, in place of the immediate action's rule
 * kinds             fault-kind: rule, one for each kind of fault
 * recoveryActions   recovery-action: rule, applies when it is the more severe one
 *
 * rule              {class: fault-class, recommendedAction: action, default none, grace: ISO 8601 duration, default PT0S}
 * </pre>
 */
public final class PolicyFile {
    private static final int MAX_BYTES = 256 * 1024;
    private static final Set<String> KEYS = Set.of(
            "policy", "recoveryDwell", "bootLimit", "immediateActions", "kinds", "recoveryActions", "xids", "sxids");

    private final String source;
    private final Map<?, ?> root;

    private PolicyFile(String source, Map<?, ?> root) {
        this.source = source;
        this.root = root;
    }

    /** Loads a bundled pack by name, or a file by path. */
    public static HealthPolicy load(String nameOrPath) {
        try (InputStream pack =
                PolicyFile.class.getResourceAsStream("/io/gpufleet/health/policy/" + nameOrPath + ".yaml")) {
            if (pack != null) {
                return parse(nameOrPath, new String(pack.readAllBytes(), StandardCharsets.UTF_8));
            }
            Path file = Path.of(nameOrPath);
            if (!Files.isRegularFile(file)) {
                throw new ConfigurationException(
                        "GPUFLEET_POLICY='" + nameOrPath + "' is neither a pack (nvidia) nor a file; name one of them");
            }
            return parse(nameOrPath, Files.readString(file));
        } catch (IOException unreadable) {
            throw new ConfigurationException(
                    "GPUFLEET_POLICY='" + nameOrPath + "' cannot be read: " + unreadable.getMessage());
        }
    }

    /** Parses a policy; mistakes are reported with the name of the source. */
    static HealthPolicy parse(String source, String text) {
        if (text.length() > MAX_BYTES) {
            throw new ConfigurationException(
                    "policy " + source + " is longer than " + MAX_BYTES / 1024 + " KiB; shorten it");
        }
        try {
            Object document = new Yaml(new SafeConstructor(new LoaderOptions())).load(text);
            if (document instanceof Map<?, ?> map) {
                return new PolicyFile(source, map).policy();
            }
        } catch (YAMLException malformed) {
            String line = String.valueOf(malformed.getMessage()).replaceAll("\\s+", " ");
            throw new ConfigurationException("policy " + source + " is not YAML: " + line);
        } catch (IllegalArgumentException incomplete) {
            throw new ConfigurationException("policy " + source + ": " + incomplete.getMessage());
        }
        throw new ConfigurationException("policy " + source + " is not a YAML mapping; see policy/nvidia.yaml");
    }

    private HealthPolicy policy() {
        root.keySet().forEach(key -> {
            if (!KEYS.contains(String.valueOf(key))) {
                throw invalid(String.valueOf(key), "one of " + joinSorted(KEYS));
            }
        });
        Map<ImmediateAction, FaultRule> immediate =
                rules("immediateActions", ImmediateAction.class, ImmediateAction::name);
        Arrays.stream(ImmediateAction.values())
                .filter(action -> !immediate.containsKey(action))
                .forEach(action -> {
                    throw invalid("immediateActions", "a rule for " + action);
                });
        var codes = new HashMap<FaultCode, FaultRule>();
        XidCatalogue.standard().all().forEach(xid -> {
            FaultCode code = FaultCode.xid(xid.code());
            FaultRule rule = Objects.requireNonNull(immediate.get(xid.immediate()));
            codes.put(code, new FaultRule(code.slug(), rule.faultClass(), rule.recommendedAction(), rule.grace()));
        });
        codes.putAll(numberedRules("xids", FaultKind.XID));
        codes.putAll(numberedRules("sxids", FaultKind.SXID));
        return new HealthPolicy(
                String.valueOf(root.get("policy")),
                codes,
                rules("kinds", FaultKind.class, kind -> FaultCode.of(kind).slug()),
                rules("recoveryActions", RecoveryAction.class, PolicyFile::kebabCase),
                duration("recoveryDwell", root.get("recoveryDwell"), Duration.ZERO),
                bootLimit());
    }

    private <E extends Enum<E>> Map<E, FaultRule> rules(String key, Class<E> type, Function<E, String> name) {
        Map<String, E> byName =
                Arrays.stream(type.getEnumConstants()).collect(Collectors.toMap(name, Function.identity()));
        var rules = new EnumMap<E, FaultRule>(type);
        mapping(key, root.get(key)).forEach((entry, value) -> {
            E constant = byName.get(String.valueOf(entry));
            if (constant == null) {
                throw invalid(key + "." + entry, "one of " + joinSorted(byName.keySet()));
            }
            rules.put(constant, rule(key + "." + entry, name.apply(constant), value));
        });
        return rules;
    }

    private Map<FaultCode, FaultRule> numberedRules(String key, FaultKind kind) {
        var rules = new HashMap<FaultCode, FaultRule>();
        Object value = root.get(key);
        if (value != null) {
            mapping(key, value).forEach((number, rule) -> {
                if (!(number instanceof Integer code) || code < 1) {
                    throw invalid(key + "." + number, "a code, a whole number from 1");
                }
                var fault = new FaultCode(kind, code);
                rules.put(fault, rule(key + "." + number, fault.slug(), rule));
            });
        }
        return rules;
    }

    private FaultRule rule(String place, String name, @Nullable Object value) {
        Map<?, ?> fields = mapping(place, value);
        fields.keySet().forEach(field -> {
            if (!Set.of("class", "recommendedAction", "grace").contains(String.valueOf(field))) {
                throw invalid(place + "." + field, "class, recommendedAction and grace");
            }
        });
        return new FaultRule(
                name,
                constant(place + ".class", fields.get("class"), FaultClass.values(), FaultClass::slug),
                fields.containsKey("recommendedAction")
                        ? constant(
                                place + ".recommendedAction",
                                fields.get("recommendedAction"),
                                RecommendedAction.values(),
                                RecommendedAction::slug)
                        : RecommendedAction.NONE,
                duration(place + ".grace", fields.get("grace"), Duration.ZERO));
    }

    private <E> E constant(String place, @Nullable Object value, E[] values, Function<E, String> name) {
        return Arrays.stream(values)
                .filter(candidate -> name.apply(candidate).equals(value))
                .findFirst()
                .orElseThrow(() -> invalid(
                        place + "=" + value,
                        "one of " + Arrays.stream(values).map(name).collect(Collectors.joining(", "))));
    }

    private BootLimit bootLimit() {
        if (!root.containsKey("bootLimit")) {
            return BootLimit.DEFAULT;
        }
        Map<?, ?> fields = mapping("bootLimit", root.get("bootLimit"));
        if (!fields.keySet().equals(Set.of("boots", "within")) || !(fields.get("boots") instanceof Integer boots)) {
            throw invalid("bootLimit=" + fields, "boots, a whole number, and within, an ISO 8601 duration");
        }
        return new BootLimit(boots, duration("bootLimit.within", fields.get("within"), BootLimit.DEFAULT.within()));
    }

    private Duration duration(String place, @Nullable Object value, Duration otherwise) {
        try {
            return value == null ? otherwise : Duration.parse(String.valueOf(value));
        } catch (DateTimeParseException malformed) {
            throw invalid(place + "=" + value, "an ISO 8601 duration such as PT5M");
        }
    }

    private Map<?, ?> mapping(String place, @Nullable Object value) {
        if (value instanceof Map<?, ?> map) {
            return map;
        }
        throw invalid(place, "a mapping");
    }

    private ConfigurationException invalid(String place, String allowed) {
        return new ConfigurationException("policy " + source + ": " + place + " takes " + allowed);
    }

    private static String kebabCase(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    private static String joinSorted(Set<String> names) {
        return names.stream().sorted().collect(Collectors.joining(", "));
    }
}
