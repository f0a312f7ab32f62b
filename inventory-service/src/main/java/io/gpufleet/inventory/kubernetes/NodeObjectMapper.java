package io.gpufleet.inventory.kubernetes;

import io.fabric8.kubernetes.api.model.ManagedFieldsEntry;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeCondition;
import io.fabric8.kubernetes.api.model.NodeSpec;
import io.fabric8.kubernetes.api.model.NodeStatus;
import io.fabric8.kubernetes.api.model.Taint;
import io.gpufleet.inventory.app.NodeObject;
import io.gpufleet.inventory.model.taint.NodeTaint;
import io.gpufleet.inventory.model.taint.NodeTaints;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Maps a Node object to the fields that this service reads. */
final class NodeObjectMapper {
    /** Field manager of this service. */
    static final String FIELD_MANAGER = "gpufleet-inventory";

    private NodeObjectMapper() {}

    static NodeObject toModel(Node node) {
        Set<String> ownAnnotations = ownedKeys(node, "f:annotations");
        Map<String, String> annotations = orEmpty(node.getMetadata().getAnnotations()).entrySet().stream()
                .filter(annotation -> ownAnnotations.contains(annotation.getKey()))
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
        return new NodeObject(
                node.getMetadata().getName(),
                text(node.getMetadata().getUid()),
                bootId(node.getStatus()),
                ready(node.getStatus()),
                unschedulable(node.getSpec()),
                orEmpty(node.getMetadata().getLabels()),
                new NodeObject.Owned(ownedKeys(node, "f:labels"), annotations),
                taints(node));
    }

    private static NodeTaints taints(Node node) {
        Map<String, String> annotations = orEmpty(node.getMetadata().getAnnotations());
        List<Taint> taints = node.getSpec() == null || node.getSpec().getTaints() == null
                ? List.of()
                : node.getSpec().getTaints();
        return new NodeTaints(
                taints.stream()
                        .map(taint -> new NodeTaint(taint.getKey(), text(taint.getValue()), taint.getEffect()))
                        .toList(),
                annotations.getOrDefault(NodeTaints.APPLIED, ""),
                !annotations.isEmpty());
    }

    private static String bootId(@Nullable NodeStatus status) {
        return status == null || status.getNodeInfo() == null
                ? ""
                : text(status.getNodeInfo().getBootID());
    }

    private static boolean ready(@Nullable NodeStatus status) {
        List<NodeCondition> conditions = status == null ? List.of() : status.getConditions();
        return conditions.stream().anyMatch(it -> "Ready".equals(it.getType()) && "True".equals(it.getStatus()));
    }

    private static boolean unschedulable(@Nullable NodeSpec spec) {
        return spec != null && Boolean.TRUE.equals(spec.getUnschedulable());
    }

    /** Keys below metadata that {@code managedFields} lists for this service. */
    private static Set<String> ownedKeys(Node node, String kind) {
        return node.getMetadata().getManagedFields().stream()
                .filter(entry -> FIELD_MANAGER.equals(entry.getManager()) && "Apply".equals(entry.getOperation()))
                .flatMap(entry -> keys(entry, kind).stream())
                .collect(Collectors.toSet());
    }

    private static Set<String> keys(ManagedFieldsEntry entry, String kind) {
        return Optional.ofNullable(entry.getFieldsV1())
                .flatMap(fields -> child(fields.getAdditionalProperties(), "f:metadata"))
                .flatMap(metadata -> child(metadata, kind))
                .map(Map::keySet)
                .orElse(Set.of())
                .stream()
                .map(String::valueOf)
                .filter(key -> key.startsWith("f:"))
                .map(key -> key.substring(2))
                .collect(Collectors.toSet());
    }

    private static Optional<Map<?, ?>> child(Map<?, ?> fields, String key) {
        return fields.get(key) instanceof Map<?, ?> map ? Optional.of(map) : Optional.empty();
    }

    private static Map<String, String> orEmpty(@Nullable Map<String, String> map) {
        return map == null ? Map.of() : map;
    }

    private static String text(@Nullable String text) {
        return text == null ? "" : text;
    }
}
