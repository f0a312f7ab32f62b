package io.gpufleet.cli.install;

import io.fabric8.kubernetes.api.model.Node;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** What gpufleet sets on a Node. */
public final class AppliedFields {
    private AppliedFields() {}

    /**
     * Labels, annotations, taints and conditions that begin with a prefix of ours, and a cordon; empty when the Node is
     * clean.
     */
    public static Map<String, String> of(Node node) {
        var fields = new TreeMap<String, String>();
        collect(fields, "label ", node.getMetadata().getLabels());
        collect(fields, "annotation ", node.getMetadata().getAnnotations());
        node.getSpec().getTaints().stream()
                .filter(taint -> taint.getKey().startsWith("gpufleet.io/")
                        || taint.getKey().startsWith("nvidia.com/"))
                .forEach(taint -> fields.put("taint " + taint.getKey(), taint.getEffect()));
        if (Boolean.TRUE.equals(node.getSpec().getUnschedulable())) {
            fields.put("cordon", "true");
        }
        node.getStatus().getConditions().stream()
                .filter(condition -> condition.getType().startsWith("Gpu"))
                .forEach(condition -> fields.put("condition " + condition.getType(), condition.getStatus()));
        return fields;
    }

    private static void collect(Map<String, String> fields, String kind, Map<String, String> found) {
        Optional.ofNullable(found).orElse(Map.of()).forEach((key, value) -> {
            if (key.startsWith("gpufleet.io/") || key.startsWith("nvidia.com/") || key.startsWith("gpu-")) {
                fields.put(kind + key, value);
            }
        });
    }
}
