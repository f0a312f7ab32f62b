package io.gpufleet.testbed.fakeapiserver.admission;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import io.gpufleet.testbed.fakeapiserver.object.Json;
import java.util.List;

/** Defaults of the real server for a new pod, as far as schedulers, kubelets and webhooks read them. */
public final class PodDefaults {
    private PodDefaults() {}

    /** Sets the defaults in a pod that is not stored yet. */
    public static void apply(ObjectNode pod) {
        ObjectNode spec = Json.withObject(pod, "spec");
        setIfAbsent(spec, "restartPolicy", "Always");
        setIfAbsent(spec, "dnsPolicy", "ClusterFirst");
        setIfAbsent(spec, "schedulerName", "default-scheduler");
        setIfAbsent(spec, "serviceAccountName", "default");
        setIfAbsent(spec, "serviceAccount", Json.text(spec, "serviceAccountName"));
        if (!spec.has("terminationGracePeriodSeconds")) {
            spec.put("terminationGracePeriodSeconds", 30);
        }
        if (!spec.has("priority")) {
            spec.put("priority", 0);
        }
        if (!spec.has("enableServiceLinks")) {
            spec.put("enableServiceLinks", true);
        }
        Json.withObject(spec, "securityContext");
        for (String list : List.of("containers", "initContainers")) {
            spec.path(list).forEach(container -> container((ObjectNode) container));
        }
        addToleration(spec, "node.kubernetes.io/not-ready");
        addToleration(spec, "node.kubernetes.io/unreachable");
        ObjectNode status = Json.object().put("phase", "Pending").put("qosClass", qualityOfService(spec));
        pod.set("status", status);
    }

    /** Turns numbers among the quantities into texts; missing requests are the limits. */
    private static void container(ObjectNode container) {
        setIfAbsent(container, "terminationMessagePath", "/dev/termination-log");
        setIfAbsent(container, "terminationMessagePolicy", "File");
        String image = Json.text(container, "image");
        boolean latest = image.endsWith(":latest")
                || !image.substring(image.lastIndexOf('/') + 1).contains(":");
        setIfAbsent(container, "imagePullPolicy", latest ? "Always" : "IfNotPresent");
        ObjectNode resources = Json.withObject(container, "resources");
        for (String side : List.of("limits", "requests")) {
            if (resources.get(side) instanceof ObjectNode amounts) {
                numbersToStrings(amounts);
            }
        }
        if (resources.get("limits") instanceof ObjectNode limits) {
            ObjectNode requests = Json.withObject(resources, "requests");
            limits.properties().forEach(limit -> {
                if (!requests.has(limit.getKey())) {
                    requests.set(limit.getKey(), limit.getValue());
                }
            });
        }
    }

    /** Turns amounts written as numbers into texts, the stored form of quantities. */
    public static void numbersToStrings(ObjectNode amounts) {
        amounts.properties().forEach(amount -> {
            if (amount.getValue().isNumber()) {
                amount.setValue(TextNode.valueOf(amount.getValue().asText()));
            }
        });
    }

    private static void addToleration(ObjectNode spec, String key) {
        ArrayNode tolerations =
                spec.get("tolerations") instanceof ArrayNode there ? there : spec.putArray("tolerations");
        for (JsonNode toleration : tolerations) {
            boolean sameKey = Json.text(toleration, "key").equals(key) || !toleration.has("key");
            String effect = Json.text(toleration, "effect");
            if (sameKey && (effect.isEmpty() || effect.equals("NoExecute"))) {
                return;
            }
        }
        tolerations
                .addObject()
                .put("key", key)
                .put("operator", "Exists")
                .put("effect", "NoExecute")
                .put("tolerationSeconds", 300);
    }

    private static String qualityOfService(ObjectNode spec) {
        boolean any = false;
        boolean guaranteed = true;
        for (JsonNode container : spec.path("containers")) {
            for (String resource : List.of("cpu", "memory")) {
                String limit = Json.text(container, "resources", "limits", resource);
                String request = Json.text(container, "resources", "requests", resource);
                any |= !limit.isEmpty() || !request.isEmpty();
                guaranteed &= !limit.isEmpty() && limit.equals(request);
            }
        }
        return any ? (guaranteed ? "Guaranteed" : "Burstable") : "BestEffort";
    }

    private static void setIfAbsent(ObjectNode object, String name, String value) {
        if (!object.has(name)) {
            object.put(name, value);
        }
    }
}
