package io.gpufleet.testbed.fakeapiserver.admission;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.testbed.fakeapiserver.object.Json;
import io.gpufleet.testbed.fakeapiserver.type.ResourceType;
import java.util.List;

/**
 * A write under admission.
 *
 * @param type resource that is written
 * @param operation {@code CREATE}, {@code UPDATE} or {@code DELETE}
 * @param subresource empty for the object itself
 * @param object object to be stored; a missing node for a deletion
 * @param oldObject stored object; a missing node for a creation
 * @param user the writer
 * @param dryRun true when nothing will be stored
 */
public record AdmissionAttributes(
        ResourceType type,
        String operation,
        String subresource,
        JsonNode object,
        JsonNode oldObject,
        UserInfo user,
        boolean dryRun) {
    /**
     * An authenticated user.
     *
     * @param name user name of the token
     * @param groups may be empty
     */
    public record UserInfo(String name, List<String> groups) {
        /** The form of TokenReview and AdmissionReview. */
        public ObjectNode toJson() {
            ObjectNode user = Json.object().put("username", name);
            groups.forEach(user.putArray("groups")::add);
            return user;
        }
    }

    /** The same request with a changed object. */
    public AdmissionAttributes withObject(JsonNode changed) {
        return new AdmissionAttributes(type, operation, subresource, changed, oldObject, user, dryRun);
    }

    /** The object, or the deleted one. */
    public JsonNode subject() {
        return object.isMissingNode() ? oldObject : object;
    }

    /** Namespace of the object; for a namespace, its own name. */
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
        request.set("userInfo", user.toJson());
        request.set("object", object.isMissingNode() ? request.nullNode() : object);
        request.set("oldObject", oldObject.isMissingNode() ? request.nullNode() : oldObject);
        request.put("dryRun", dryRun);
        return review;
    }
}
