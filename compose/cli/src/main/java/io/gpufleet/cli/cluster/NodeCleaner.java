package io.gpufleet.cli.cluster;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.NodeSpec;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/**
 * Removes from a Node what gpufleet has set: the taint, the cordon, the label and the annotations of the health-service, its
 * condition, the labels and annotations that the API server says belong to the inventory-service, and the taints that its
 * annotation lists. A GPU that another program labelled keeps that label, a taint that it set stays, and a Node that somebody
 * else made unschedulable stays so.
 */
final class NodeCleaner {
    private static final String PREFIX = "gpufleet.io/";
    private static final String TAINT = PREFIX + "unhealthy";
    private static final String CONDITION = "GpuUnhealthy";
    private static final List<String> HEALTH_LABELS = List.of(PREFIX + "health");
    private static final String APPLIED_TAINTS = PREFIX + "applied-node-taints";
    private static final List<String> PATCHED_ANNOTATIONS =
            List.of(PREFIX + "applied", PREFIX + "recommended-action", APPLIED_TAINTS);
    private static final int CONFLICT = 409;
    /** More writers of one Node in a row than a control plane has. */
    private static final int ATTEMPTS = 10;

    private static final String INVENTORY = "gpufleet-inventory";
    private static final String HEALTH = "gpufleet-health";

    private final KubernetesClient client;

    NodeCleaner(KubernetesClient client) {
        this.client = client;
    }

    /** Cleans a Node; what was removed, or nothing where nothing was ours. */
    List<String> clean(Node node) {
        var removed = new ArrayList<String>();
        String name = node.getMetadata().getName();
        List<String> applied = appliedTaints(node);
        if (taints(node).stream().anyMatch(taint -> isOurs(taint, applied))) {
            removeTaints(name, applied);
            taints(node).stream()
                    .filter(taint -> isOurs(taint, applied))
                    .forEach(taint -> removed.add("taint " + taint.getKey()));
        }
        if (cordonedByUs(node)) {
            client.resource(named(name))
                    .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"spec\":{\"unschedulable\":null}}");
            removed.add("cordon");
        }
        List<String> owned = owned(node);
        if (!owned.isEmpty()) {
            // An apply of nothing: the API server removes what this manager owned, and only that.
            client.resource(named(name)).patch(apply(), body(node));
            removed.add(owned.size() + " labels and annotations of the inventory");
        }
        removed.addAll(removePatched(node));
        if (hasCondition(node)) {
            client.resource(named(name))
                    .subresource("status")
                    .patch(
                            PatchContext.of(PatchType.STRATEGIC_MERGE),
                            "{\"status\":{\"conditions\":[{\"type\":\"" + CONDITION + "\",\"$patch\":\"delete\"}]}}");
            removed.add("condition " + CONDITION);
        }
        return List.copyOf(removed);
    }

    /** The API server knows who made a Node unschedulable. */
    private static boolean cordonedByUs(Node node) {
        boolean cordoned =
                node.getSpec() != null && Boolean.TRUE.equals(node.getSpec().getUnschedulable());
        return cordoned
                && Optional.ofNullable(node.getMetadata().getManagedFields()).orElse(List.of()).stream()
                        .filter(entry -> HEALTH.equals(entry.getManager()) && entry.getFieldsV1() != null)
                        .map(entry ->
                                entry.getFieldsV1().getAdditionalProperties().get("f:spec"))
                        .anyMatch(spec -> spec instanceof Map<?, ?> fields && fields.containsKey("f:unschedulable"));
    }

    private static List<Taint> taints(Node node) {
        return Optional.ofNullable(node.getSpec()).map(NodeSpec::getTaints).orElse(List.of());
    }

    /**
     * The list of taints is one field: it is written with the version that was read, and read again where another has
     * written meanwhile, as the control plane does at every change of a node's readiness.
     */
    private void removeTaints(String name, List<String> applied) {
        for (int attempt = 1; ; attempt++) {
            try {
                client.nodes().withName(name).edit(node -> without(node, applied));
                return;
            } catch (KubernetesClientException failed) {
                if (failed.getCode() != CONFLICT || attempt == ATTEMPTS) {
                    throw failed;
                }
            }
        }
    }

    private static Node without(Node node, List<String> applied) {
        var kept =
                taints(node).stream().filter(taint -> !isOurs(taint, applied)).toList();
        return new NodeBuilder(node).editSpec().withTaints(kept).endSpec().build();
    }

    /** Whether the health-service set the taint, or the inventory-service with exactly this value and effect. */
    private static boolean isOurs(Taint taint, List<String> applied) {
        String value = taint.getValue() == null || taint.getValue().isEmpty() ? "" : "=" + taint.getValue();
        return TAINT.equals(taint.getKey()) || applied.contains(taint.getKey() + value + ":" + taint.getEffect());
    }

    private static List<String> appliedTaints(Node node) {
        String applied = Optional.ofNullable(node.getMetadata().getAnnotations())
                .map(annotations -> annotations.get(APPLIED_TAINTS))
                .orElse("");
        return List.of(applied.split(",", -1));
    }

    private List<String> removePatched(Node node) {
        var labels = present(HEALTH_LABELS, node.getMetadata().getLabels());
        var annotations = present(PATCHED_ANNOTATIONS, node.getMetadata().getAnnotations());
        if (labels.isEmpty() && annotations.isEmpty()) {
            return List.of();
        }
        client.resource(named(node.getMetadata().getName()))
                .patch(
                        PatchContext.of(PatchType.JSON_MERGE),
                        "{\"metadata\":{\"labels\":" + nulls(labels) + ",\"annotations\":" + nulls(annotations) + "}}");
        var removed = new ArrayList<String>();
        labels.forEach(label -> removed.add("label " + label));
        annotations.forEach(annotation -> removed.add("annotation " + annotation));
        return removed;
    }

    private static List<String> present(List<String> keys, Map<String, String> found) {
        return found == null
                ? List.of()
                : keys.stream().filter(found::containsKey).toList();
    }

    private static String nulls(List<String> keys) {
        return keys.stream()
                .map(key -> "\"" + key + "\":null")
                .collect(java.util.stream.Collectors.joining(",", "{", "}"));
    }

    /** Keys of labels and annotations that the inventory-service has applied. */
    private static List<String> owned(Node node) {
        var keys = new TreeSet<String>();
        Optional.ofNullable(node.getMetadata().getManagedFields()).orElse(List.of()).stream()
                .filter(entry -> INVENTORY.equals(entry.getManager())
                        && "Apply".equals(entry.getOperation())
                        && entry.getFieldsV1() != null)
                .forEach(entry -> {
                    Object metadata =
                            entry.getFieldsV1().getAdditionalProperties().get("f:metadata");
                    for (String part : List.of("f:labels", "f:annotations")) {
                        if (metadata instanceof Map<?, ?> fields && fields.get(part) instanceof Map<?, ?> members) {
                            members.keySet().stream()
                                    .map(String::valueOf)
                                    .filter(key -> key.startsWith("f:"))
                                    .forEach(keys::add);
                        }
                    }
                });
        return List.copyOf(keys);
    }

    private static boolean hasCondition(Node node) {
        return node.getStatus() != null
                && Optional.ofNullable(node.getStatus().getConditions()).orElse(List.of()).stream()
                        .anyMatch(condition -> CONDITION.equals(condition.getType()));
    }

    private static Node named(String name) {
        return new NodeBuilder().withNewMetadata().withName(name).endMetadata().build();
    }

    private static PatchContext apply() {
        return new PatchContext.Builder()
                .withPatchType(PatchType.SERVER_SIDE_APPLY)
                .withFieldManager(INVENTORY)
                .withForce(true)
                .build();
    }

    /** With the UID: an apply of a Node that is gone must not create it. */
    private static String body(Node node) {
        return "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\""
                + node.getMetadata().getName() + "\",\"uid\":\""
                + node.getMetadata().getUid() + "\"}}";
    }
}
