package io.gpufleet.health.kubernetes;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.ManagedFieldsEntry;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeCondition;
import io.fabric8.kubernetes.api.model.NodeSystemInfo;
import io.gpufleet.health.model.NodeReference;
import io.gpufleet.health.model.maintenance.Maintenance;
import io.gpufleet.health.model.maintenance.OperatorText;
import io.gpufleet.health.model.nodepatch.AppliedAnnotation;
import io.gpufleet.health.model.nodepatch.ObservedNode;
import io.gpufleet.health.model.nodepatch.ObservedNode.Condition;
import io.gpufleet.health.model.nodepatch.ObservedNode.NodeFacts;
import io.gpufleet.health.model.nodepatch.ObservedNode.Taint;
import io.gpufleet.health.model.nodepatch.PatchBase;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Maps Node objects to {@link ObservedNode}. */
final class NodeMapper {
    static final String APPLIED = "gpufleet.io/applied";
    static final String RECOMMENDED_ACTION = "gpufleet.io/recommended-action";
    static final String HEALTH = "gpufleet.io/health";
    static final String CONDITION = "GpuUnhealthy";
    // A newer version may add keys to its annotation.
    static final ObjectMapper JSON =
            new ObjectMapper().configure(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES, false);

    static {
        // The annotation of a Node without a cordon is what it was before there were cordons.
        JSON.configOverride(boolean.class)
                .setInclude(JsonInclude.Value.construct(JsonInclude.Include.NON_DEFAULT, JsonInclude.Include.ALWAYS));
    }

    private NodeMapper() {}

    static ObservedNode toModel(Node node) {
        return toModel(node, UnaryOperator.identity());
    }

    /** With labels that an operator replaced by equal ones. */
    static ObservedNode toModel(Node node, UnaryOperator<Map<String, String>> shared) {
        Map<String, String> labels = shared.apply(orEmpty(node.getMetadata().getLabels()));
        Map<String, String> annotations = orEmpty(node.getMetadata().getAnnotations());
        return new ObservedNode(
                node.getMetadata().getName(),
                facts(node, withMaintenance(labels, annotations)),
                new PatchBase(
                        text(node.getMetadata().getResourceVersion()),
                        annotations.get(APPLIED),
                        !labels.isEmpty(),
                        !annotations.isEmpty(),
                        node.getSpec() != null,
                        manager(node, "f:taints"),
                        manager(node, "f:unschedulable")),
                taints(node),
                labels.getOrDefault(HEALTH, ""),
                annotations.getOrDefault(RECOMMENDED_ACTION, ""),
                applied(annotations.getOrDefault(APPLIED, "")),
                condition(node)
                        .map(found -> new Condition(
                                text(found.getStatus()), text(found.getReason()), text(found.getMessage())))
                        .orElse(null));
    }

    static Optional<NodeCondition> condition(Node node) {
        return conditions(node)
                .filter(condition -> CONDITION.equals(condition.getType()))
                .findFirst();
    }

    /** Declared by an annotation it counts like a label, so that both are reported with the labels of pool and zone. */
    private static Map<String, String> withMaintenance(Map<String, String> labels, Map<String, String> annotations) {
        if (!annotations.containsKey(Maintenance.KEY)) {
            return labels;
        }
        var all = new HashMap<>(labels);
        all.put(Maintenance.KEY, OperatorText.printable(text(annotations.get(Maintenance.KEY))));
        return all;
    }

    private static NodeFacts facts(Node node, Map<String, String> labels) {
        Optional<String> ready = conditions(node)
                .filter(condition -> "Ready".equals(condition.getType()))
                .map(condition -> text(condition.getStatus()))
                .findFirst();
        NodeSystemInfo info = node.getStatus() == null ? null : node.getStatus().getNodeInfo();
        boolean unschedulable =
                node.getSpec() != null && Boolean.TRUE.equals(node.getSpec().getUnschedulable());
        return new NodeFacts(
                text(node.getMetadata().getUid()),
                info == null ? "" : text(info.getBootID()),
                ready.filter("True"::equals).isPresent(),
                unschedulable,
                !"false".equals(labels.get(NodeReference.MANAGED)),
                labels,
                ready.filter(status -> !status.equals("True")).isPresent());
    }

    /** Field manager that wrote a field of the spec last; the list of taints is one field. */
    private static String manager(Node node, String field) {
        List<ManagedFieldsEntry> entries = node.getMetadata().getManagedFields();
        return entries == null
                ? ""
                : entries.stream()
                        .filter(entry -> owns(entry, field))
                        .max(Comparator.comparing(entry -> text(entry.getTime())))
                        .map(entry -> text(entry.getManager()))
                        .orElse("");
    }

    private static boolean owns(ManagedFieldsEntry entry, String field) {
        return text(entry.getSubresource()).isEmpty()
                && entry.getFieldsV1() != null
                && entry.getFieldsV1().getAdditionalProperties().get("f:spec") instanceof Map<?, ?> spec
                && spec.containsKey(field);
    }

    private static Stream<NodeCondition> conditions(Node node) {
        return node.getStatus() == null || node.getStatus().getConditions() == null
                ? Stream.empty()
                : node.getStatus().getConditions().stream();
    }

    private static List<Taint> taints(Node node) {
        return node.getSpec() == null || node.getSpec().getTaints() == null
                ? List.of()
                : node.getSpec().getTaints().stream()
                        .map(taint -> new Taint(
                                text(taint.getKey()),
                                text(taint.getValue()),
                                text(taint.getEffect()),
                                text(taint.getTimeAdded())))
                        .toList();
    }

    /** An unreadable annotation lists nothing, so that every field counts as foreign. */
    private static AppliedAnnotation applied(String annotation) {
        return annotation.isEmpty()
                ? AppliedAnnotation.NONE
                : readApplied(annotation).orElse(AppliedAnnotation.NONE);
    }

    /** Fields that a text of the annotation lists; empty where it cannot be read. */
    static Optional<AppliedAnnotation> readApplied(String annotation) {
        try {
            // The text null is JSON, too.
            return Optional.ofNullable(JSON.<@Nullable AppliedAnnotation>readValue(annotation, AppliedAnnotation.class))
                    .map(applied -> new AppliedAnnotation(
                            applied.revision(),
                            text(applied.taint()),
                            text(applied.label()),
                            text(applied.recommendedAction()),
                            text(applied.why()),
                            applied.cordon()));
        } catch (JsonProcessingException unreadable) {
            return Optional.empty();
        }
    }

    static String applied(AppliedAnnotation applied) {
        try {
            return JSON.writeValueAsString(applied);
        } catch (JsonProcessingException impossible) {
            throw new IllegalStateException("a record of texts and a number is always JSON", impossible);
        }
    }

    private static Map<String, String> orEmpty(@Nullable Map<String, String> map) {
        return map == null ? Map.of() : map;
    }

    private static String text(@Nullable String text) {
        return Objects.requireNonNullElse(text, "");
    }
}
