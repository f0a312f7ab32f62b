package io.gpufleet.allocation.kubernetes;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.gpufleet.allocation.model.quota.GpuQuota;
import io.gpufleet.allocation.model.quota.GpuSelector;
import io.gpufleet.allocation.model.quota.QuotaLimit;
import io.gpufleet.allocation.model.quota.QuotaStatus;
import io.gpufleet.allocation.model.scheduling.GpuAmount;
import io.gpufleet.allocation.model.scheduling.LabelSelector;
import io.gpufleet.allocation.model.scheduling.SelectorRequirement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Maps GpuQuota objects to the model and back. The schema of the CRD validates them; a specification that it would not let pass
 * is refused here, as it would cover or limit less than its owner meant.
 */
final class GpuQuotaMapper {
    static final ResourceDefinitionContext CONTEXT = new ResourceDefinitionContext.Builder()
            .withGroup("gpufleet.io")
            .withVersion("v1alpha1")
            .withKind("GpuQuota")
            .withPlural("gpuquotas")
            .withNamespaced(false)
            .build();

    private static final int MAX_MESSAGE = 1_024;
    private static final int MAX_LEADER = 512;

    private GpuQuotaMapper() {}

    /** Of a status that says Ready=False the counts are left out: once they are written, it says that it is in force. */
    static GpuQuota read(GenericKubernetesResource object) {
        Map<String, Object> spec = map(object.getAdditionalProperties().get("spec"));
        return new GpuQuota(
                object.getMetadata().getName(),
                object.getMetadata().getResourceVersion(),
                new HashSet<>(texts(of(List.class, spec, "namespaces"))),
                selector(map(of(Map.class, spec, "namespaceSelector"))),
                limits(spec),
                "Warn".equals(text(spec.get("mode"))) ? GpuQuota.Mode.WARN : GpuQuota.Mode.ENFORCE,
                "CountEach".equals(text(spec.get("ambiguousModel")))
                        ? GpuQuota.AmbiguousModel.COUNT_EACH
                        : GpuQuota.AmbiguousModel.DENY,
                QuotaConditions.isReady(conditions(object))
                        ? status(object)
                        : status(object).withUsed(Map.of()));
    }

    private static List<Map<String, Object>> conditions(GenericKubernetesResource object) {
        return list(map(object.getAdditionalProperties().get("status")).get("conditions"));
    }

    /** A quota with the resourceVersion and the status of an object, whose specification cannot be read. */
    static GpuQuota readStatus(GenericKubernetesResource object, GpuQuota last) {
        return new GpuQuota(
                last.name(),
                object.getMetadata().getResourceVersion(),
                last.namespaces(),
                last.selector(),
                last.limits(),
                last.mode(),
                last.ambiguousModel(),
                status(object));
    }

    /**
     * A quota that was in force and whose limits cannot be read: it admits nothing more in the namespaces that can. Empty
     * where it never was in force, or names no namespace.
     */
    static Optional<GpuQuota> closed(GenericKubernetesResource object) {
        Map<String, Object> spec = map(object.getAdditionalProperties().get("spec"));
        Map<String, Object> readable = new LinkedHashMap<>();
        readable.put("limits", List.of(Map.of("model", "*", "gpus", 0)));
        readable.put("mode", spec.get("mode"));
        readable.put("namespaces", texts(spec.get("namespaces")));
        readable.put("namespaceSelector", map(spec.get("namespaceSelector")));
        if (status(object).term() == 0) {
            return Optional.empty();
        }
        var open = new GenericKubernetesResource();
        open.setMetadata(object.getMetadata());
        open.setAdditionalProperty("spec", readable);
        try {
            return Optional.of(readStatus(object, read(open)));
        } catch (IllegalArgumentException selectorToo) {
            readable.remove("namespaceSelector");
            return Optional.of(readStatus(object, read(open)));
        }
    }

    private static @Nullable Object of(Class<?> type, Map<String, Object> fields, String name) {
        Object value = fields.get(name);
        if (value != null && !type.isInstance(value)) {
            throw new IllegalArgumentException(name + " has the wrong type: " + value);
        }
        return value;
    }

    private static List<QuotaLimit> limits(Map<String, Object> spec) {
        List<QuotaLimit> limits = new ArrayList<>();
        List<Map<String, Object>> rows = list(of(List.class, spec, "limits"));
        if (rows.isEmpty()) {
            throw new IllegalArgumentException("limits has no limit");
        }
        for (Map<String, Object> row : rows) {
            var kinds = new GpuSelector.Kinds(
                    text(row.get("model")),
                    text(row.get("product")),
                    text(row.get("migProfile")),
                    text(row.get("resource")));
            if (!(row.get("gpus") instanceof Number) && !(row.get("devices") instanceof Number)) {
                throw new IllegalArgumentException("limit " + kinds.id() + " needs gpus, devices or both");
            }
            Map<QuotaLimit.Unit, Integer> units = new TreeMap<>();
            max(row, "gpus").ifPresent(max -> units.put(QuotaLimit.Unit.GPUS, max));
            max(row, "devices").ifPresent(max -> units.put(QuotaLimit.Unit.DEVICES, max));
            limits.addAll(QuotaLimit.of(kinds, units));
        }
        max(spec, "others").ifPresent(max -> limits.add(QuotaLimit.others(List.copyOf(limits), max)));
        return limits;
    }

    private static Optional<Integer> max(Map<String, Object> row, String unit) {
        return of(Number.class, row, unit) instanceof Number number ? Optional.of(number.intValue()) : Optional.empty();
    }

    /**
     * A copy of the object with the status of the model, at the resourceVersion of the model.
     *
     * @param problem why its specification is not that of the model; empty where it is
     */
    static GenericKubernetesResource write(
            GenericKubernetesResource found, GpuQuota quota, String problem, Instant now) {
        Map<String, Object> before = map(found.getAdditionalProperties().get("status"));
        Map<String, Object> status = new LinkedHashMap<>();
        status.put("summary", cut(summary(quota), MAX_MESSAGE));
        status.put("leader", cut(quota.status().leader(), MAX_LEADER));
        status.put("term", quota.status().term());
        Object generation = problem.isEmpty() ? found.getMetadata().getGeneration() : before.get("observedGeneration");
        status.put("observedGeneration", generation == null ? 0 : generation);
        status.put("used", used(quota.status().used()));
        status.put("escrow", counts(quota.status().escrow()));
        status.put("unknownLimits", List.copyOf(quota.status().unknownLimits()));
        status.put("conditions", QuotaConditions.of(quota, problem, list(before.get("conditions")), now));
        GenericKubernetesResource next = copy(found, status);
        next.getMetadata().setResourceVersion(quota.resourceVersion());
        return next;
    }

    /** A copy of the object that says why the quota is not in force; empty when it says so already. */
    static Optional<GenericKubernetesResource> writeProblem(
            GenericKubernetesResource found, String reason, Instant now) {
        Map<String, Object> status = map(found.getAdditionalProperties().get("status"));
        List<Map<String, Object>> before = list(status.get("conditions"));
        List<Map<String, Object>> after = QuotaConditions.notReady(before, reason, now);
        if (after.equals(before)) {
            return Optional.empty();
        }
        status.put("conditions", after);
        return Optional.of(copy(found, status));
    }

    private static GenericKubernetesResource copy(GenericKubernetesResource found, Map<String, Object> status) {
        var next = new GenericKubernetesResource();
        next.setApiVersion(found.getApiVersion());
        next.setKind(found.getKind());
        next.setMetadata(new ObjectMetaBuilder(found.getMetadata()).build());
        next.setAdditionalProperty("spec", found.getAdditionalProperties().get("spec"));
        next.setAdditionalProperty("status", status);
        return next;
    }

    /** A text of at most so many characters, as the schema of the status demands. */
    static String cut(String text, int length) {
        return text.length() <= length ? text : text.substring(0, length - 1) + "…";
    }

    private static String summary(GpuQuota quota) {
        return quota.limits().stream()
                .map(limit -> limit.id() + " "
                        + quota.status()
                                .used()
                                .getOrDefault(limit.id(), GpuAmount.ZERO)
                                .decimal()
                        + "/" + limit.max())
                .collect(Collectors.joining(", "));
    }

    private static QuotaStatus status(GenericKubernetesResource object) {
        Map<String, Object> status = map(object.getAdditionalProperties().get("status"));
        return new QuotaStatus(
                text(status.get("leader")),
                status.get("term") instanceof Number term ? term.longValue() : 0,
                counts(list(status.get("escrow"))),
                used(list(status.get("used"))),
                new TreeSet<>(texts(status.get("unknownLimits"))));
    }

    private static LabelSelector selector(Map<String, Object> selector) {
        List<SelectorRequirement> requirements = new ArrayList<>();
        map(selector.get("matchLabels"))
                .forEach((key, value) -> requirements.add(
                        new SelectorRequirement(key, SelectorRequirement.Operator.IN, List.of(text(value)))));
        list(selector.get("matchExpressions"))
                .forEach(one -> requirements.add(new SelectorRequirement(
                        text(one.get("key")), operator(text(one.get("operator"))), texts(one.get("values")))));
        return new LabelSelector(requirements);
    }

    private static SelectorRequirement.Operator operator(String name) {
        var operator = SelectorRequirement.Operator.of(name);
        return switch (operator) {
            case IN, NOT_IN, EXISTS, DOES_NOT_EXIST -> operator;
            case GT, LT, UNKNOWN ->
                throw new IllegalArgumentException(
                        "operator '" + name + "' is not one of In, NotIn, Exists, DoesNotExist");
        };
    }

    private static Map<String, Integer> counts(List<Map<String, Object>> rows) {
        Map<String, Integer> counts = new TreeMap<>();
        for (Map<String, Object> row : rows) {
            // A row of an earlier release names no limit: its limit then has no row, and counts whole at a take-over.
            if (row.containsKey("limit") && row.get("amount") instanceof Number amount) {
                counts.put(text(row.get("limit")), amount.intValue());
            }
        }
        return counts;
    }

    private static List<Map<String, Object>> counts(Map<String, Integer> counts) {
        return counts.entrySet().stream()
                .map(count -> Map.<String, Object>of("limit", count.getKey(), "amount", count.getValue()))
                .toList();
    }

    private static Map<String, GpuAmount> used(List<Map<String, Object>> rows) {
        Map<String, GpuAmount> used = new TreeMap<>();
        rows.forEach(row -> used.put(text(row.get("limit")), amount(row)));
        return used;
    }

    private static GpuAmount amount(Map<String, Object> row) {
        try {
            return row.containsKey("exact")
                    ? GpuAmount.parse(text(row.get("exact")))
                    : GpuAmount.of(number(row.get("amount")));
        } catch (IllegalArgumentException unreadable) {
            return GpuAmount.of(number(row.get("amount")));
        }
    }

    /** A fraction is rounded up for readers that know whole numbers only, and stands beside it exactly. */
    private static List<Map<String, Object>> used(Map<String, GpuAmount> used) {
        return used.entrySet().stream()
                .map(row -> row.getValue().isWhole()
                        ? Map.<String, Object>of(
                                "limit", row.getKey(), "amount", row.getValue().roundedUp())
                        : Map.<String, Object>of(
                                "limit", row.getKey(),
                                "amount", row.getValue().roundedUp(),
                                "exact", row.getValue().fraction()))
                .toList();
    }

    private static Map<String, Object> map(@Nullable Object value) {
        Map<String, Object> map = new LinkedHashMap<>();
        if (value instanceof Map<?, ?> found) {
            found.forEach((key, entry) -> map.put(String.valueOf(key), entry));
        }
        return map;
    }

    private static List<Map<String, Object>> list(@Nullable Object value) {
        return value instanceof List<?> found
                ? found.stream().map(GpuQuotaMapper::map).toList()
                : List.of();
    }

    private static List<String> texts(@Nullable Object value) {
        return value instanceof List<?> found
                ? found.stream().map(String::valueOf).toList()
                : List.of();
    }

    private static String text(@Nullable Object value) {
        return value == null ? "" : value.toString();
    }

    private static int number(@Nullable Object value) {
        return value instanceof Number number ? number.intValue() : 0;
    }
}
