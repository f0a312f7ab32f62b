package io.gpufleet.health.config;

import io.gpufleet.health.model.drain.DrainMode;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.fault.RecommendedAction;
import io.gpufleet.health.model.fault.RecoveryAction;
import io.gpufleet.health.model.policy.Escalation;
import io.gpufleet.health.model.policy.FaultClass;
import io.gpufleet.health.model.policy.FaultRule;
import io.gpufleet.health.model.policy.HealthPolicy;
import io.gpufleet.health.model.policy.NodeAction;
import io.gpufleet.health.model.policy.RuleTiming;
import io.gpufleet.health.model.policy.Threshold;
import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.model.fault.FaultKind;
import io.gpufleet.xid.XidCatalogue;
import io.gpufleet.xid.XidImmediateAction;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Reads a policy pack from YAML. A mistake is reported with its place and the allowed values.
 *
 * <pre>
 * policy            name of the pack
 * extends           name of a bundled pack, of which every rule applies that this one does not have
 * recoveryDwell     ISO 8601 duration, default PT0S
 * escalation        {steps: [{action, attempts: number}], within: ISO 8601 duration}, default in nvidia.yaml
 * drain             {notice, deadline, jobInterval: ISO 8601 durations, then: wait or delete, nodes: number,
 *                   namespaces, exclude: lists of patterns, windows}, default in DrainSettings; only where a rule drains
 * remediation       {actions: list of reset-gpu, reboot, power-cycle, replace, validate, deadline: ISO 8601 duration,
 *                   nodes: number, windows}, default in RemediationSettings: no action
 * windows           list of maintenance windows in which a drain may begin, or a boot or a replacement be asked for:
 *                   days, from-to, time zone, for example "Sat,Sun 22:00-04:00 Europe/Berlin"; any time by default
 * immediateActions  IMMEDIATE_ACTION: rule, one for each of NVIDIA's immediate actions of XIDs
 * xids, sxids       number: rule, in place of the immediate action's rule
 * kinds             fault-kind: rule, one for each kind of fault
 * recoveryActions   recovery-action: rule, applies when it is the more severe one
 *
 * rule              {class: fault-class, recommendedAction: action, default none, drain: none, gpu-pods or all, nodeAction:
 *                   taint, cordon or taint-and-cordon for a class that takes the node out of service, and when it acts:
 *                   grace, bootGrace, coalesce, recoveryDwell, probation: ISO 8601 durations, default PT0S
 *                   threshold: {count: number, of: number, within: ISO 8601 duration}}
 * </pre>
 */
public final class PolicyFile {
    private static final Set<String> KEYS = Set.of(
            "policy",
            "extends",
            "recoveryDwell",
            "escalation",
            "drain",
            "remediation",
            "immediateActions",
            "kinds",
            "recoveryActions",
            "xids",
            "sxids");

    static final Set<String> RULE_KEYS = Set.of(
            "class",
            "recommendedAction",
            "drain",
            "nodeAction",
            "grace",
            "bootGrace",
            "threshold",
            "coalesce",
            "recoveryDwell",
            "probation");

    private final String source;
    private final Map<?, ?> root;

    private PolicyFile(String source, Map<?, ?> root) {
        this.source = source;
        this.root = root;
    }

    /** Loads a bundled pack by name, or a file by path. */
    public static HealthPolicy load(String nameOrPath) {
        return parse(nameOrPath, text(nameOrPath));
    }

    /** Text of a bundled pack by name, or of a file by path. */
    public static String text(String nameOrPath) {
        return text("GPUFLEET_POLICY", nameOrPath);
    }

    /** As the other one, with the setting that is named where the text cannot be read. */
    public static String text(String setting, String nameOrPath) {
        return PolicyPackLoader.read(setting, nameOrPath);
    }

    /** Parses a policy; mistakes are reported with the name of the source. */
    public static HealthPolicy parse(String source, String text) {
        Map<?, ?> root = PolicyPackLoader.merged(source, text);
        try {
            return new PolicyFile(source, root).policy();
        } catch (IllegalArgumentException incomplete) {
            throw new ConfigurationException("policy " + source + ": " + incomplete.getMessage());
        }
    }

    private HealthPolicy policy() {
        root.keySet().forEach(key -> {
            if (!KEYS.contains(String.valueOf(key))) {
                throw invalid(String.valueOf(key), "one of " + joinSorted(KEYS));
            }
        });
        if (!(root.get("policy") instanceof String name) || name.isBlank()) {
            throw invalid("policy", "the name of this pack");
        }
        Map<XidImmediateAction, FaultRule> immediate =
                rules("immediateActions", XidImmediateAction.class, XidImmediateAction::name);
        Arrays.stream(XidImmediateAction.values())
                .filter(action -> !immediate.containsKey(action))
                .forEach(action -> {
                    throw invalid("immediateActions", "a rule for " + action);
                });
        var codes = new HashMap<FaultCode, FaultRule>();
        XidCatalogue.standard().all().forEach(xid -> {
            FaultCode code = FaultCode.xid(xid.code());
            FaultRule rule = Objects.requireNonNull(immediate.get(xid.immediate()));
            codes.put(
                    code,
                    new FaultRule(
                            code.slug(),
                            rule.faultClass(),
                            rule.recommendedAction(),
                            rule.timing(),
                            rule.drain(),
                            rule.nodeAction()));
        });
        codes.putAll(numberedRules("xids", FaultKind.XID));
        codes.putAll(numberedRules("sxids", FaultKind.SXID));
        return new HealthPolicy(
                name,
                codes,
                rules("kinds", FaultKind.class, kind -> FaultCode.of(kind).slug()),
                rules("recoveryActions", RecoveryAction.class, PolicyFile::kebabCase),
                duration("recoveryDwell", root.get("recoveryDwell"), Duration.ZERO),
                escalation(),
                new DrainSection(source, root.get("drain")).settings(),
                new RemediationSection(source, root.get("remediation")).settings());
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
        // The driver requests a recovery action when it is needed.
        Set<String> keys = place.startsWith("recoveryActions.")
                ? Set.of("class", "recommendedAction", "drain", "nodeAction")
                : RULE_KEYS;
        fields.keySet().forEach(field -> {
            if (!keys.contains(String.valueOf(field))) {
                throw invalid(place + "." + field, joinSorted(keys));
            }
        });
        return new FaultRule(
                name,
                constant(place + ".class", fields.get("class"), FaultClass.values(), FaultClass::slug),
                fields.containsKey("recommendedAction")
                        ? constant(
                                place + ".recommendedAction",
                                fields.get("recommendedAction"),
                                RecommendedAction.ofRules(),
                                RecommendedAction::slug)
                        : RecommendedAction.NONE,
                timing(place, fields),
                fields.containsKey("drain")
                        ? constant(place + ".drain", fields.get("drain"), DrainMode.values(), DrainMode::slug)
                        : DrainMode.NONE,
                fields.containsKey("nodeAction")
                        ? constant(
                                place + ".nodeAction", fields.get("nodeAction"), NodeAction.values(), NodeAction::slug)
                        : NodeAction.TAINT);
    }

    private RuleTiming timing(String place, Map<?, ?> fields) {
        try {
            return new RuleTiming(
                    duration(place + ".grace", fields.get("grace"), Duration.ZERO),
                    duration(place + ".bootGrace", fields.get("bootGrace"), Duration.ZERO),
                    threshold(place + ".threshold", fields.get("threshold")),
                    duration(place + ".coalesce", fields.get("coalesce"), Duration.ZERO),
                    duration(place + ".recoveryDwell", fields.get("recoveryDwell"), Duration.ZERO),
                    duration(place + ".probation", fields.get("probation"), Duration.ZERO));
        } catch (IllegalArgumentException unusable) {
            throw new ConfigurationException("policy " + source + ": " + place + ": " + unusable.getMessage());
        }
    }

    private Threshold threshold(String place, @Nullable Object value) {
        if (value == null) {
            return Threshold.FIRST;
        }
        Map<?, ?> fields = mapping(place, value);
        if (!fields.keySet().equals(Set.of("count", "of", "within"))
                || !(fields.get("count") instanceof Integer count)
                || !(fields.get("of") instanceof Integer of)) {
            throw invalid(place + "=" + fields, "count and of, whole numbers, and within, an ISO 8601 duration");
        }
        return new Threshold(count, of, duration(place + ".within", fields.get("within"), Duration.ZERO));
    }

    private <E> E constant(String place, @Nullable Object value, E[] values, Function<E, String> name) {
        return Arrays.stream(values)
                .filter(candidate -> name.apply(candidate).equals(value))
                .findFirst()
                .orElseThrow(() -> invalid(
                        place + "=" + value,
                        "one of " + Arrays.stream(values).map(name).collect(Collectors.joining(", "))));
    }

    private Escalation escalation() {
        if (!root.containsKey("escalation")) {
            return Escalation.DEFAULT;
        }
        Map<?, ?> fields = mapping("escalation", root.get("escalation"));
        if (!fields.keySet().equals(Set.of("steps", "within")) || !(fields.get("steps") instanceof List<?> steps)) {
            throw invalid("escalation", "steps, a list, and within, an ISO 8601 duration");
        }
        return new Escalation(
                steps.stream().map(this::step).toList(),
                duration("escalation.within", fields.get("within"), Escalation.DEFAULT.within()));
    }

    private Escalation.Step step(@Nullable Object value) {
        Map<?, ?> fields = mapping("escalation.steps", value);
        Object number = fields.containsKey("attempts") ? fields.get("attempts") : Integer.valueOf(1);
        if (!Set.of("action", "attempts").containsAll(fields.keySet()) || !(number instanceof Integer attempts)) {
            throw invalid("escalation.steps=" + fields, "action, and attempts, a whole number");
        }
        return new Escalation.Step(
                constant(
                        "escalation.steps.action",
                        fields.get("action"),
                        RecommendedAction.ofRules(),
                        RecommendedAction::slug),
                attempts);
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
