package io.gpufleet.allocation.webhook;

import io.gpufleet.allocation.model.scheduling.ContainerResources;
import io.gpufleet.allocation.model.scheduling.GpuPod;
import io.gpufleet.allocation.model.scheduling.SchedulingConstraints;
import io.gpufleet.allocation.model.scheduling.SelectorRequirement;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Maps the pod of an AdmissionReview from JSON. A missing field reads as empty, a field of another type throws
 * ClassCastException. PodMapper of the Kubernetes package maps the same fields of fabric8's Pod, which is not allowed
 * here.
 */
final class PodJsonMapper {
    private PodJsonMapper() {}

    static GpuPod read(JsonObject request) {
        JsonObject pod = request.getJsonObject("object");
        JsonObject meta = pod.getJsonObject("metadata", new JsonObject());
        String uid = meta.getString("uid", "");
        return new GpuPod(
                request.getString("namespace", meta.getString("namespace", "")),
                meta.getString("name", ""),
                meta.getString("generateName", ""),
                uid.isEmpty() ? "request:" + request.getString("uid", "") : uid,
                !uid.isEmpty(),
                Instant.MAX,
                constraints(pod.getJsonObject("spec", new JsonObject())),
                containers(pod.getJsonObject("spec", new JsonObject())));
    }

    private static SchedulingConstraints constraints(JsonObject spec) {
        JsonObject required = spec.getJsonObject("affinity", new JsonObject())
                .getJsonObject("nodeAffinity", new JsonObject())
                .getJsonObject("requiredDuringSchedulingIgnoredDuringExecution", new JsonObject());
        List<SchedulingConstraints.NodeSelectorTerm> terms = objects(required, "nodeSelectorTerms")
                .map(term -> new SchedulingConstraints.NodeSelectorTerm(
                        requirements(term, "matchExpressions"), requirements(term, "matchFields")))
                .toList();
        return new SchedulingConstraints(texts(spec, "nodeSelector"), terms, spec.getString("nodeName", ""));
    }

    private static List<SelectorRequirement> requirements(JsonObject term, String field) {
        return objects(term, field)
                .map(one -> new SelectorRequirement(
                        one.getString("key", ""),
                        SelectorRequirement.Operator.of(one.getString("operator", "")),
                        one.getJsonArray("values", new JsonArray()).stream()
                                .map(String::valueOf)
                                .toList()))
                .toList();
    }

    private static List<ContainerResources> containers(JsonObject spec) {
        List<ContainerResources> containers = new ArrayList<>();
        objects(spec, "initContainers")
                .forEach(one -> containers.add(container(
                        one,
                        one.getString("restartPolicy", "").equals("Always")
                                ? ContainerResources.ContainerType.SIDECAR
                                : ContainerResources.ContainerType.INIT)));
        objects(spec, "containers")
                .forEach(one -> containers.add(container(one, ContainerResources.ContainerType.APP)));
        return containers;
    }

    private static ContainerResources container(JsonObject container, ContainerResources.ContainerType kind) {
        JsonObject resources = container.getJsonObject("resources", new JsonObject());
        return new ContainerResources(
                container.getString("name", ""), kind, texts(resources, "requests"), texts(resources, "limits"));
    }

    private static Map<String, String> texts(JsonObject parent, String field) {
        Map<String, String> texts = new TreeMap<>();
        parent.getJsonObject(field, new JsonObject())
                .forEach(entry -> texts.put(entry.getKey(), String.valueOf(entry.getValue())));
        return texts;
    }

    private static Stream<JsonObject> objects(JsonObject parent, String field) {
        return parent.getJsonArray(field, new JsonArray()).stream().map(JsonObject.class::cast);
    }
}
