package io.gpufleet.allocation.webhook;

import io.gpufleet.allocation.model.quota.ContainerAsk;
import io.gpufleet.allocation.model.quota.Placement;
import io.gpufleet.allocation.model.quota.PodAsk;
import io.gpufleet.allocation.model.quota.Requirement;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** The pod of an AdmissionReview. What is missing reads as empty; what has another type is refused by a ClassCastException. */
final class PodJson {
    private PodJson() {}

    static PodAsk read(JsonObject request) {
        JsonObject pod = request.getJsonObject("object");
        JsonObject meta = pod.getJsonObject("metadata", new JsonObject());
        String uid = meta.getString("uid", "");
        return new PodAsk(
                request.getString("namespace", meta.getString("namespace", "")),
                meta.getString("name", ""),
                meta.getString("generateName", ""),
                uid.isEmpty() ? "request:" + request.getString("uid", "") : uid,
                !uid.isEmpty(),
                false,
                placement(pod.getJsonObject("spec", new JsonObject())),
                containers(pod.getJsonObject("spec", new JsonObject())));
    }

    private static Placement placement(JsonObject spec) {
        JsonObject required = spec.getJsonObject("affinity", new JsonObject())
                .getJsonObject("nodeAffinity", new JsonObject())
                .getJsonObject("requiredDuringSchedulingIgnoredDuringExecution", new JsonObject());
        List<Placement.Term> terms = objects(required, "nodeSelectorTerms")
                .map(term ->
                        new Placement.Term(requirements(term, "matchExpressions"), requirements(term, "matchFields")))
                .toList();
        return new Placement(texts(spec, "nodeSelector"), terms, spec.getString("nodeName", ""));
    }

    private static List<Requirement> requirements(JsonObject term, String field) {
        return objects(term, field)
                .map(one -> new Requirement(
                        one.getString("key", ""),
                        Requirement.Operator.of(one.getString("operator", "")),
                        one.getJsonArray("values", new JsonArray()).stream()
                                .map(String::valueOf)
                                .toList()))
                .toList();
    }

    private static List<ContainerAsk> containers(JsonObject spec) {
        List<ContainerAsk> containers = new ArrayList<>();
        objects(spec, "initContainers")
                .forEach(one -> containers.add(container(
                        one,
                        one.getString("restartPolicy", "").equals("Always")
                                ? ContainerAsk.Kind.SIDECAR
                                : ContainerAsk.Kind.INIT)));
        objects(spec, "containers").forEach(one -> containers.add(container(one, ContainerAsk.Kind.APP)));
        return containers;
    }

    private static ContainerAsk container(JsonObject container, ContainerAsk.Kind kind) {
        JsonObject resources = container.getJsonObject("resources", new JsonObject());
        return new ContainerAsk(
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
