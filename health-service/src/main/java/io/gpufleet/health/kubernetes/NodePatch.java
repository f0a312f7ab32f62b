package io.gpufleet.health.kubernetes;

import io.gpufleet.health.model.nodepatch.AppliedAnnotation;
import io.gpufleet.health.model.nodepatch.NodePatchPlan;
import io.gpufleet.health.model.nodepatch.ObservedNode;
import io.gpufleet.health.model.nodepatch.ObservedNode.Taint;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The JSON Patch of a plan. It tests the UID and every field of ours that it relies on, so that it fails when one of them
 * has changed, and only then: what others change on the Node meanwhile does not matter.
 */
final class NodePatch {
    private static final String LABELS = "/metadata/labels";
    private static final String ANNOTATIONS = "/metadata/annotations";
    private static final String TAINTS = "/spec/taints";
    private static final String UNSCHEDULABLE = "/spec/unschedulable";

    private final ObservedNode observed;
    private final List<Map<String, @Nullable Object>> operations = new ArrayList<>();

    private NodePatch(ObservedNode observed) {
        this.observed = observed;
    }

    /** The operations, in order. */
    static List<Map<String, @Nullable Object>> of(ObservedNode observed, NodePatchPlan.Patch plan) {
        var patch = new NodePatch(observed);
        patch.test("/metadata/uid", observed.uid());
        patch.annotations(plan);
        patch.label(plan.label());
        patch.taint(plan);
        patch.unschedulable(plan.unschedulable());
        return List.copyOf(patch.operations);
    }

    private void annotations(NodePatchPlan.Patch plan) {
        container(ANNOTATIONS, observed.base().annotations());
        // An older leader, which has observed another annotation, fails here.
        String found = observed.base().applied();
        String applied = plan.applied().equals(AppliedAnnotation.NONE) ? null : NodeMapper.applied(plan.applied());
        String path = ANNOTATIONS + "/" + escaped(NodeMapper.APPLIED);
        if (observed.base().annotations()) {
            test(path, found);
        }
        if (applied != null && !applied.equals(found)) {
            operation("add", path, applied);
        }
        member(
                ANNOTATIONS + "/" + escaped(NodeMapper.RECOMMENDED_ACTION),
                observed.recommendedAction(),
                plan.recommendedAction());
    }

    private void label(String desired) {
        if (!desired.equals(observed.label())) {
            container(LABELS, observed.base().labels());
            member(LABELS + "/" + escaped(NodeMapper.HEALTH), observed.label(), desired);
        }
    }

    /** A map that is absent is added, unless somebody was faster. */
    private void container(String path, boolean present) {
        if (!present) {
            test(path, null);
            operation("add", path, Map.of());
        }
    }

    private void member(String path, String before, String desired) {
        if (desired.equals(before)) {
            return;
        }
        test(path, before.isEmpty() ? null : before);
        if (desired.isEmpty()) {
            operations.add(Map.of("op", "remove", "path", path));
        } else {
            operation("add", path, desired);
        }
    }

    private void taint(NodePatchPlan.Patch plan) {
        Optional<Taint> before = observed.unhealthyTaint();
        Optional<Taint> desired =
                plan.taints().stream().filter(Taint::isUnhealthyTaint).findFirst();
        if (before.equals(desired)) {
            return;
        }
        if (before.isEmpty()) {
            desired.ifPresent(this::addTaint);
        } else {
            changeTaint(before.get(), desired.orElse(null));
        }
    }

    /** An object without a spec is schedulable and has no taints. */
    private void unschedulable(boolean desired) {
        boolean before = observed.facts().unschedulable();
        if (desired && !before) {
            spec();
            test(UNSCHEDULABLE, null);
            operation("add", UNSCHEDULABLE, true);
        } else if (before && !desired) {
            test(UNSCHEDULABLE, true);
            operations.add(Map.of("op", "remove", "path", UNSCHEDULABLE));
        }
    }

    private void spec() {
        boolean added = operations.stream().anyMatch(operation -> "/spec".equals(operation.get("path")));
        container("/spec", observed.base().spec() || added);
    }

    private void addTaint(Taint taint) {
        spec();
        if (observed.taints().isEmpty()) {
            test(TAINTS, null);
            operation("add", TAINTS, List.of(json(taint)));
        } else {
            // The controllers of Kubernetes add behind and keep the order: at the front it is found again whatever they
            // do.
            // Another taint of this key and effect is refused by the API server, so that it need not be looked for.
            operation("add", TAINTS + "/0", json(taint));
        }
    }

    private void changeTaint(Taint before, @Nullable Taint desired) {
        String path = TAINTS + "/" + observed.taints().indexOf(before);
        test(path, json(before));
        if (desired != null) {
            operation("replace", path, json(desired));
        } else {
            operations.add(Map.of("op", "remove", "path", path));
        }
    }

    /** Null stands for a field that is absent. */
    private void test(String path, @Nullable Object value) {
        operation("test", path, value);
    }

    private void operation(String name, String path, @Nullable Object value) {
        Map<String, @Nullable Object> operation = new LinkedHashMap<>();
        operation.put("op", name);
        operation.put("path", path);
        operation.put("value", value);
        operations.add(operation);
    }

    private static Map<String, String> json(Taint taint) {
        Map<String, String> fields = new LinkedHashMap<>();
        fields.put("key", taint.key());
        if (!taint.value().isEmpty()) {
            fields.put("value", taint.value());
        }
        fields.put("effect", taint.effect());
        if (!taint.timeAdded().isEmpty()) {
            fields.put("timeAdded", taint.timeAdded());
        }
        return fields;
    }

    private static String escaped(String name) {
        return name.replace("~", "~0").replace("/", "~1");
    }
}
