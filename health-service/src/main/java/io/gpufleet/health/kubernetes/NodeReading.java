package io.gpufleet.health.kubernetes;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeCondition;
import io.fabric8.kubernetes.api.model.NodeSystemInfo;
import io.gpufleet.health.model.FoundNode;
import io.gpufleet.health.model.FoundNode.Condition;
import io.gpufleet.health.model.FoundNode.Facts;
import io.gpufleet.health.model.FoundNode.Taint;
import io.gpufleet.health.model.MarksNote;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Node objects to what the model knows of them. */
final class NodeReading {
    static final String MARKS = "gpufleet.io/marks";
    static final String NEXT_STEP = "gpufleet.io/next-step";
    static final String HEALTH = "gpufleet.io/health";
    static final String MANAGED = "gpufleet.io/managed";
    static final String CONDITION = "GpuUnhealthy";
    // A newer version may write more into its note.
    static final ObjectMapper JSON =
            new ObjectMapper().configure(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES, false);

    private NodeReading() {}

    static FoundNode toModel(Node node) {
        Map<String, String> labels = orEmpty(node.getMetadata().getLabels());
        Map<String, String> annotations = orEmpty(node.getMetadata().getAnnotations());
        return new FoundNode(
                node.getMetadata().getName(),
                facts(node, labels),
                text(node.getMetadata().getResourceVersion()),
                taints(node),
                labels.getOrDefault(HEALTH, ""),
                annotations.getOrDefault(NEXT_STEP, ""),
                note(annotations.getOrDefault(MARKS, "")),
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

    private static Facts facts(Node node, Map<String, String> labels) {
        boolean ready = conditions(node)
                .anyMatch(condition -> "Ready".equals(condition.getType()) && "True".equals(condition.getStatus()));
        NodeSystemInfo info = node.getStatus() == null ? null : node.getStatus().getNodeInfo();
        boolean unschedulable =
                node.getSpec() != null && Boolean.TRUE.equals(node.getSpec().getUnschedulable());
        return new Facts(
                text(node.getMetadata().getUid()),
                info == null ? "" : text(info.getBootID()),
                ready,
                unschedulable,
                !"false".equals(labels.get(MANAGED)));
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

    /** What can not be read lists nothing, so nothing that we would touch. */
    private static MarksNote note(String annotation) {
        if (annotation.isEmpty()) {
            return MarksNote.NONE;
        }
        try {
            MarksNote note = JSON.readValue(annotation, MarksNote.class);
            return new MarksNote(
                    note.revision(), text(note.taint()), text(note.label()), text(note.nextStep()), text(note.why()));
        } catch (JsonProcessingException unreadable) {
            return MarksNote.NONE;
        }
    }

    static String note(MarksNote note) {
        try {
            return JSON.writeValueAsString(note);
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
