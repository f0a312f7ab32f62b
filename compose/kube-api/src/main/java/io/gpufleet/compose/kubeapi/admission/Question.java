package io.gpufleet.compose.kubeapi.admission;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.compose.kubeapi.object.Json;
import io.gpufleet.compose.kubeapi.type.ResourceType;
import java.util.List;

/**
 * A write that webhooks may have a say in.
 *
 * @param type resource that is written
 * @param operation {@code CREATE}, {@code UPDATE} or {@code DELETE}
 * @param subresource empty for the object itself
 * @param object what is to be stored; a missing node for a removal
 * @param old what is stored; a missing node for a creation
 * @param user who writes
 * @param dryRun whether nothing will be stored
 */
public record Question(
        ResourceType type,
        String operation,
        String subresource,
        JsonNode object,
        JsonNode old,
        User user,
        boolean dryRun) {
    /**
     * Who asks.
     *
     * @param name as a token names it
     * @param groups may be empty
     */
    public record User(String name, List<String> groups) {
        /** As TokenReview and AdmissionReview write it. */
        public ObjectNode json() {
            ObjectNode user = Json.object().put("username", name);
            groups.forEach(user.putArray("groups")::add);
            return user;
        }
    }

    /** The same question about a changed object. */
    public Question about(JsonNode changed) {
        return new Question(type, operation, subresource, changed, old, user, dryRun);
    }

    /** The object, or for a removal the one that goes. */
    public JsonNode subject() {
        return object.isMissingNode() ? old : object;
    }

    /** Namespace of the subject; the namespace itself when that is what is written. */
    public String namespace() {
        return type.isCore("namespaces") ? Json.name(subject()) : Json.namespace(subject());
    }

    /** The AdmissionReview to send. */
    public ObjectNode review(String uid) {
        ObjectNode review = Json.object().put("kind", "AdmissionReview").put("apiVersion", "admission.k8s.io/v1");
        ObjectNode request = review.putObject("request").put("uid", uid);
        for (String kind : List.of("kind", "requestKind")) {
            request.putObject(kind)
                    .put("group", type.resource().group())
                    .put("version", type.version())
                    .put("kind", type.kind());
        }
        for (String resource : List.of("resource", "requestResource")) {
            request.putObject(resource)
                    .put("group", type.resource().group())
                    .put("version", type.version())
                    .put("resource", type.resource().plural());
        }
        if (!subresource.isEmpty()) {
            request.put("subResource", subresource).put("requestSubResource", subresource);
        }
        request.put("name", Json.name(subject()));
        if (!namespace().isEmpty()) {
            request.put("namespace", namespace());
        }
        request.put("operation", operation);
        request.set("userInfo", user.json());
        request.set("object", object.isMissingNode() ? request.nullNode() : object);
        request.set("oldObject", old.isMissingNode() ? request.nullNode() : old);
        request.put("dryRun", dryRun);
        return review;
    }
}
