package io.gpufleet.inventory.kubernetes;

import io.gpufleet.inventory.app.NodeObject;
import io.gpufleet.inventory.model.taint.NodeTaint;
import io.gpufleet.inventory.model.taint.NodeTaints;
import io.gpufleet.inventory.model.taint.TaintPlan;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The JSON Patch of a taint plan. It tests the UID, the annotation of the taints that are ours, and each taint that it
 * removes: a Node on which one of them changed meanwhile is left as it is.
 */
final class TaintPatch {
    private static final String ANNOTATIONS = "/metadata/annotations";
    private static final String APPLIED = ANNOTATIONS + "/" + NodeTaints.APPLIED.replace("/", "~1");
    private static final String TAINTS = "/spec/taints";

    private final List<Map<String, @Nullable Object>> operations = new ArrayList<>();

    private TaintPatch() {}

    /** The operations, in order. */
    static List<Map<String, @Nullable Object>> of(NodeObject observed, TaintPlan plan) {
        var patch = new TaintPatch();
        patch.operation("test", "/metadata/uid", observed.uid());
        patch.annotation(observed.taints(), plan.applied());
        patch.remove(observed.taints().present(), plan.removed());
        patch.add(observed.taints().present().isEmpty(), plan.added());
        boolean last = plan.removed().size() == observed.taints().present().size();
        if (last && !plan.removed().isEmpty() && plan.added().isEmpty()) {
            patch.removeEmptyList();
        }
        return List.copyOf(patch.operations);
    }

    private void annotation(NodeTaints observed, String applied) {
        if (!observed.annotated()) {
            operation("test", ANNOTATIONS, null);
            operation("add", ANNOTATIONS, Map.of());
        }
        operation("test", APPLIED, observed.applied().isEmpty() ? null : observed.applied());
        if (!applied.isEmpty()) {
            operation("add", APPLIED, applied);
        } else if (!observed.applied().isEmpty()) {
            operations.add(Map.of("op", "remove", "path", APPLIED));
        }
    }

    /** From the last to the first, so that the indexes of those before stay. */
    private void remove(List<NodeTaint> present, List<NodeTaint> removed) {
        for (int index = present.size() - 1; index >= 0; index--) {
            NodeTaint taint = present.get(index);
            if (removed.contains(taint)) {
                String path = TAINTS + "/" + index;
                fields(taint).forEach((name, value) -> operation("test", path + "/" + name, value));
                operations.add(Map.of("op", "remove", "path", path));
            }
        }
    }

    /** A Node without taints has no list of them; the test fails where somebody has added one meanwhile. */
    private void removeEmptyList() {
        operation("test", TAINTS, List.of());
        operations.add(Map.of("op", "remove", "path", TAINTS));
    }

    /** The API server refuses a second taint of one key and effect, so that the others need not be tested. */
    private void add(boolean first, List<NodeTaint> added) {
        if (first && !added.isEmpty()) {
            operation("test", TAINTS, null);
            operation("add", TAINTS, added.stream().map(TaintPatch::fields).toList());
        } else {
            added.forEach(taint -> operation("add", TAINTS + "/-", fields(taint)));
        }
    }

    private static Map<String, String> fields(NodeTaint taint) {
        return taint.value().isEmpty()
                ? Map.of("key", taint.key(), "effect", taint.effect())
                : Map.of("key", taint.key(), "value", taint.value(), "effect", taint.effect());
    }

    private void operation(String name, String path, @Nullable Object value) {
        Map<String, @Nullable Object> operation = new LinkedHashMap<>();
        operation.put("op", name);
        operation.put("path", path);
        operation.put("value", value);
        operations.add(operation);
    }
}
