package io.gpufleet.compose.kubeapi.admission;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import io.gpufleet.compose.kubeapi.object.Json;
import java.util.List;

/** What the real server fills into a new pod, as far as schedulers, kubelets and webhooks look at it. */
public final class PodDefaults {
    private PodDefaults() {}

    /** Fills a pod under construction. */
    public static void fill(ObjectNode pod) {
        ObjectNode spec = Json.dig(pod, "spec");
        absent(spec, "restartPolicy", "Always");
        absent(spec, "dnsPolicy", "ClusterFirst");
        absent(spec, "schedulerName", "default-scheduler");
        absent(spec, "serviceAccountName", "default");
        absent(spec, "serviceAccount", Json.text(spec, "serviceAccountName"));
        if (!spec.has("terminationGracePeriodSeconds")) {
            spec.put("terminationGracePeriodSeconds", 30);
        }
        if (!spec.has("priority")) {
            spec.put("priority", 0);
        }
        if (!spec.has("enableServiceLinks")) {
            spec.put("enableServiceLinks", true);
        }
        Json.dig(spec, "securityContext");
        for (String list : List.of("containers", "initContainers")) {
            spec.path(list).forEach(container -> container((ObjectNode) container));
        }
        tolerate(spec, "node.kubernetes.io/not-ready");
        tolerate(spec, "node.kubernetes.io/unreachable");
        ObjectNode status = Json.object().put("phase", "Pending").put("qosClass", qualityOfService(spec));
        pod.set("status", status);
    }

    /** Numbers among quantities become texts, and requests follow limits. */
    private static void container(ObjectNode container) {
        absent(container, "terminationMessagePath", "/dev/termination-log");
        absent(container, "terminationMessagePolicy", "File");
        String image = Json.text(container, "image");
        boolean latest = image.endsWith(":latest")
                || !image.substring(image.lastIndexOf('/') + 1).contains(":");
        absent(container, "imagePullPolicy", latest ? "Always" : "IfNotPresent");
        ObjectNode resources = Json.dig(container, "resources");
        for (String side : List.of("limits", "requests")) {
            if (resources.get(side) instanceof ObjectNode amounts) {
                texts(amounts);
            }
        }
        if (resources.get("limits") instanceof ObjectNode limits) {
            ObjectNode requests = Json.dig(resources, "requests");
            limits.properties().forEach(limit -> {
                if (!requests.has(limit.getKey())) {
                    requests.set(limit.getKey(), limit.getValue());
                }
            });
        }
    }

    /** Amounts that were written as numbers become texts, as every stored quantity is one. */
    public static void texts(ObjectNode amounts) {
        amounts.properties().forEach(amount -> {
            if (amount.getValue().isNumber()) {
                amount.setValue(TextNode.valueOf(amount.getValue().asText()));
            }
        });
    }

    private static void tolerate(ObjectNode spec, String key) {
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

    private static void absent(ObjectNode object, String name, String value) {
        if (!object.has(name)) {
            object.put(name, value);
        }
    }
}
