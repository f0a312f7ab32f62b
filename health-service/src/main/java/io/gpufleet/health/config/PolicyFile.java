package io.gpufleet.health.config;

import io.gpufleet.catalogue.ImmediateAction;
import io.gpufleet.catalogue.XidCatalogue;
import io.gpufleet.health.model.FaultClass;
import io.gpufleet.health.model.FaultCode;
import io.gpufleet.health.model.FaultKind;
import io.gpufleet.health.model.HealthPolicy;
import io.gpufleet.health.model.NextStep;
import io.gpufleet.health.model.RecoveryAction;
import io.gpufleet.health.model.Rule;
import io.gpufleet.kit.config.ConfigurationException;
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
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import org.yaml.snakeyaml.error.YAMLException;

/**
 * A policy pack as YAML: what each of NVIDIA's immediate actions is worth, single codes that differ, a rule for every
 * kind of fault and for every recovery action. A mistake is answered with the place and what may stand there.
 */
public final class PolicyFile {
    private static final int MOST_BYTES = 256 * 1024;
    private static final Set<String> KEYS =
            Set.of("policy", "recoveryDwell", "immediateActions", "kinds", "recoveryActions", "xids", "sxids");

    private final String source;
    private final Map<?, ?> root;

    private PolicyFile(String source, Map<?, ?> root) {
        this.source = source;
        this.root = root;
    }

    /** A pack that comes with the program, by name, or a file, by path. */
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
                    "GPUFLEET_POLICY='" + nameOrPath + "' can not be read: " + unreadable.getMessage());
        }
    }

    /** Reads a policy; the source is what a mistake is reported of. */
    static HealthPolicy parse(String source, String text) {
        if (text.length() > MOST_BYTES) {
            throw new ConfigurationException(
                    "policy " + source + " is longer than " + MOST_BYTES / 1024 + " KiB; shorten it");
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
                throw wrong(String.valueOf(key), "one of " + sorted(KEYS));
            }
        });
        Map<ImmediateAction, Rule> immediate = rules("immediateActions", ImmediateAction.class, ImmediateAction::name);
        Arrays.stream(ImmediateAction.values())
                .filter(action -> !immediate.containsKey(action))
                .forEach(action -> {
                    throw wrong("immediateActions", "a rule for " + action);
                });
        var codes = new HashMap<FaultCode, Rule>();
        XidCatalogue.standard().all().forEach(xid -> {
            FaultCode code = FaultCode.xid(xid.code());
            Rule rule = java.util.Objects.requireNonNull(immediate.get(xid.immediate()));
            codes.put(code, new Rule(code.slug(), rule.effect(), rule.step()));
        });
        codes.putAll(numbered("xids", FaultKind.XID));
        codes.putAll(numbered("sxids", FaultKind.SXID));
        return new HealthPolicy(
                String.valueOf(root.get("policy")),
                codes,
                rules("kinds", FaultKind.class, kind -> FaultCode.of(kind).slug()),
                rules("recoveryActions", RecoveryAction.class, PolicyFile::dashed),
                dwell());
    }

    private <E extends Enum<E>> Map<E, Rule> rules(String key, Class<E> type, Function<E, String> name) {
        Map<String, E> byName =
                Arrays.stream(type.getEnumConstants()).collect(Collectors.toMap(name, Function.identity()));
        var rules = new EnumMap<E, Rule>(type);
        mapping(key, root.get(key)).forEach((word, value) -> {
            E constant = byName.get(String.valueOf(word));
            if (constant == null) {
                throw wrong(key + "." + word, "one of " + sorted(byName.keySet()));
            }
            rules.put(constant, rule(key + "." + word, name.apply(constant), value));
        });
        return rules;
    }

    private Map<FaultCode, Rule> numbered(String key, FaultKind kind) {
        var rules = new HashMap<FaultCode, Rule>();
        Object value = root.get(key);
        if (value != null) {
            mapping(key, value).forEach((number, rule) -> {
                if (!(number instanceof Integer code) || code < 1) {
                    throw wrong(key + "." + number, "a code, a whole number from 1");
                }
                var fault = new FaultCode(kind, code);
                rules.put(fault, rule(key + "." + number, fault.slug(), rule));
            });
        }
        return rules;
    }

    private Rule rule(String place, String name, @Nullable Object value) {
        Map<?, ?> fields = mapping(place, value);
        fields.keySet().forEach(field -> {
            if (!Set.of("class", "step").contains(String.valueOf(field))) {
                throw wrong(place + "." + field, "class and step");
            }
        });
        return new Rule(
                name,
                word(place + ".class", fields.get("class"), FaultClass.values(), FaultClass::word),
                fields.containsKey("step")
                        ? word(place + ".step", fields.get("step"), NextStep.values(), NextStep::word)
                        : NextStep.NONE);
    }

    private <E> E word(String place, @Nullable Object value, E[] values, Function<E, String> name) {
        return Arrays.stream(values)
                .filter(candidate -> name.apply(candidate).equals(value))
                .findFirst()
                .orElseThrow(() -> wrong(
                        place + "=" + value,
                        "one of " + Arrays.stream(values).map(name).collect(Collectors.joining(", "))));
    }

    private Duration dwell() {
        Object value = root.containsKey("recoveryDwell") ? root.get("recoveryDwell") : "PT0S";
        try {
            return Duration.parse(String.valueOf(value));
        } catch (DateTimeParseException malformed) {
            throw wrong("recoveryDwell=" + value, "an ISO 8601 duration such as PT5M");
        }
    }

    private Map<?, ?> mapping(String place, @Nullable Object value) {
        if (value instanceof Map<?, ?> map) {
            return map;
        }
        throw wrong(place, "a mapping");
    }

    private ConfigurationException wrong(String place, String allowed) {
        return new ConfigurationException("policy " + source + ": " + place + " takes " + allowed);
    }

    private static String dashed(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    private static String sorted(Set<String> words) {
        return words.stream().sorted().collect(Collectors.joining(", "));
    }
}
