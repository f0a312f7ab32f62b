package io.gpufleet.testbed.fakeapiserver.rest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.testbed.fakeapiserver.admission.PodDefaults;
import io.gpufleet.testbed.fakeapiserver.object.ApiError;
import io.gpufleet.testbed.fakeapiserver.object.Json;
import io.gpufleet.testbed.fakeapiserver.object.StatusCause;
import io.gpufleet.testbed.fakeapiserver.type.ResourceType;
import io.gpufleet.testbed.fakeapiserver.type.ResourceTypes;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.regex.Pattern;

/** Prepares objects for the store: fields that the server sets, and fields that a client may not write. */
final class ObjectPreparation {
    private static final Pattern SUBDOMAIN =
            Pattern.compile("[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*");
    private static final String SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789";
    private static final List<String> SERVER_FIELDS = List.of(
            "uid", "creationTimestamp", "generation", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink");

    private final Random random = new SecureRandom();

    /** A new object with its name, namespace, identity and defaults. */
    ObjectNode prepareForCreate(RequestInfo target, ObjectNode body, String now) {
        ObjectNode object = body.deepCopy();
        ResourceType type = target.type();
        checkKind(type, object);
        ObjectNode metadata = Json.withObject(object, "metadata");
        if (!Json.text(metadata, "resourceVersion").isEmpty()) {
            throw ApiError.badRequest("resourceVersion should not be set on objects to be created");
        }
        namespace(target, metadata);
        name(type, metadata);
        omitEmptyMaps(metadata);
        metadata.remove(SERVER_FIELDS);
        metadata.put("uid", UUID.randomUUID().toString()).put("creationTimestamp", now);
        if (type.hasGeneration()) {
            metadata.put("generation", 1);
        }
        if (type.status() && !type.isCore("nodes")) {
            object.remove("status");
        }
        defaults(type, object, now);
        return object;
    }

    /** An empty map is no field of the stored object: a JSON patch that removed the last label left one. */
    private static void omitEmptyMaps(ObjectNode metadata) {
        for (String field : List.of("labels", "annotations")) {
            if (metadata.path(field).isEmpty()) {
                metadata.remove(field);
            }
        }
    }

    private static void defaults(ResourceType type, ObjectNode object, String now) {
        switch (type.resource().toString()) {
            case "pods" -> PodDefaults.apply(object);
            case "nodes" -> normalizeNode(object);
            case "secrets" -> normalizeSecret(object);
            case "namespaces" -> {
                Json.withObject(object, "spec").putArray("finalizers").add("kubernetes");
                Json.withObject(object, "status").put("phase", "Active");
                Json.withObject(object, "metadata", "labels").put("kubernetes.io/metadata.name", Json.name(object));
            }
            case "customresourcedefinitions.apiextensions.k8s.io" ->
                object.set("status", ResourceTypes.established(object, now));
            default -> {
                return;
            }
        }
    }

    /** Quantities are texts, missing allocatable is the capacity, and a list of no taints is no field. */
    private static void normalizeNode(ObjectNode node) {
        ObjectNode status = Json.withObject(node, "status");
        if (status.get("capacity") instanceof ObjectNode capacity) {
            PodDefaults.numbersToStrings(capacity);
            if (!status.has("allocatable")) {
                status.set("allocatable", capacity);
            }
        }
        if (status.get("allocatable") instanceof ObjectNode allocatable) {
            PodDefaults.numbersToStrings(allocatable);
        }
        ObjectNode spec = Json.withObject(node, "spec");
        if (spec.path("taints").isEmpty()) {
            spec.remove("taints");
        }
    }

    private static void normalizeSecret(ObjectNode secret) {
        if (!secret.has("type")) {
            secret.put("type", "Opaque");
        }
        JsonNode plain = secret.path("stringData");
        secret.remove("stringData");
        for (var entry : plain.properties()) {
            byte[] value = entry.getValue().asText().getBytes(StandardCharsets.UTF_8);
            Json.withObject(secret, "data")
                    .put(entry.getKey(), Base64.getEncoder().encodeToString(value));
        }
    }

    /** The replacement of {@code live}, without changes that this path does not allow. */
    ObjectNode prepareForUpdate(RequestInfo target, ObjectNode live, ObjectNode wanted) {
        ResourceType type = target.type();
        ObjectNode next = wanted.deepCopy();
        checkKind(type, next);
        ObjectNode metadata = Json.withObject(next, "metadata");
        if (!metadata.has("name")) {
            metadata.put("name", target.name());
        }
        if (!Json.name(next).equals(target.name())) {
            throw ApiError.badRequest("the name of the object (" + Json.name(next)
                    + ") does not match the name on the URL (" + target.name() + ")");
        }
        namespace(target, metadata);
        omitEmptyMaps(metadata);
        JsonNode kept = live.path("metadata");
        for (String field : SERVER_FIELDS) {
            restore(metadata, kept, field);
        }
        if (target.isStatus()) {
            next = onlyStatus(type, live, next);
        } else if (target.subresource().isEmpty() && type.status()) {
            restore(next, live, "status");
        }
        if (type.isCore("nodes")) {
            normalizeNode(next);
        } else if (type.isCore("secrets")) {
            normalizeSecret(next);
        }
        if (type.hasGeneration() && !content(live).equals(content(next))) {
            Json.withObject(next, "metadata")
                    .put("generation", kept.path("generation").asInt(0) + 1);
        }
        return next;
    }

    /** The status path changes the status only; with metadata for built-in types, without for custom ones. */
    private static ObjectNode onlyStatus(ResourceType type, ObjectNode live, ObjectNode wanted) {
        ObjectNode next = live.deepCopy();
        restore(next, wanted, "status");
        if (type.custom()) {
            restore(Json.withObject(next, "metadata"), wanted.path("metadata"), "managedFields");
        } else {
            next.set("metadata", wanted.get("metadata"));
        }
        return next;
    }

    private static JsonNode content(ObjectNode object) {
        return object.deepCopy().remove(List.of("metadata", "status", "apiVersion"));
    }

    private static void restore(ObjectNode into, JsonNode from, String field) {
        JsonNode value = from.path(field);
        if (value.isMissingNode()) {
            into.remove(field);
        } else {
            into.set(field, value);
        }
    }

    private static void checkKind(ResourceType type, ObjectNode object) {
        String apiVersion = object.path("apiVersion").asText(type.apiVersion());
        String kind = object.path("kind").asText(type.kind());
        if (!kind.equals(type.kind())) {
            throw ApiError.badRequest(
                    kind + " in version \"" + apiVersion + "\" cannot be handled as a " + type.kind());
        }
        if (!apiVersion.equals(type.apiVersion())) {
            throw ApiError.badRequest("the API version in the data (" + apiVersion
                    + ") does not match the expected API version (" + type.apiVersion() + ")");
        }
        object.put("apiVersion", type.apiVersion()).put("kind", type.kind());
    }

    private static void namespace(RequestInfo target, ObjectNode metadata) {
        String given = Json.text(metadata, "namespace");
        if (!given.isEmpty() && !given.equals(target.namespace())) {
            throw ApiError.badRequest(
                    "the namespace of the provided object does not match the namespace sent on" + " the request");
        }
        if (target.namespace().isEmpty()) {
            metadata.remove("namespace");
        } else {
            metadata.put("namespace", target.namespace());
        }
    }

    private void name(ResourceType type, ObjectNode metadata) {
        String prefix = Json.text(metadata, "generateName");
        String name = Json.text(metadata, "name");
        if (name.isEmpty() && !prefix.isEmpty()) {
            StringBuilder made = new StringBuilder(prefix);
            random.ints(5, 0, SUFFIX_LETTERS.length()).forEach(i -> made.append(SUFFIX_LETTERS.charAt(i)));
            name = made.toString();
        }
        if (name.isEmpty()) {
            throw ApiError.invalid(
                    type.resource(),
                    type.kind(),
                    "",
                    List.of(StatusCause.required("metadata.name", "name or generateName is required")));
        }
        boolean free = type.resource().group().equals("rbac.authorization.k8s.io");
        if (!free && (name.length() > 253 || !SUBDOMAIN.matcher(name).matches())) {
            throw ApiError.invalid(
                    type.resource(),
                    type.kind(),
                    name,
                    List.of(StatusCause.invalid(
                            "metadata.name",
                            name,
                            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-'"
                                    + " or '.', and must start and end with an alphanumeric character (e.g."
                                    + " 'example.com', regex used for validation is '" + SUBDOMAIN.pattern()
                                    + "')")));
        }
        metadata.put("name", name);
    }
}
