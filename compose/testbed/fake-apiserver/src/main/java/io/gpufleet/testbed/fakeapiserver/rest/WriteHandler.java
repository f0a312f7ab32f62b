package io.gpufleet.testbed.fakeapiserver.rest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.testbed.fakeapiserver.admission.AdmissionAttributes;
import io.gpufleet.testbed.fakeapiserver.admission.NodeValidation;
import io.gpufleet.testbed.fakeapiserver.admission.PodValidation;
import io.gpufleet.testbed.fakeapiserver.apply.FieldManagement;
import io.gpufleet.testbed.fakeapiserver.apply.FieldOwner;
import io.gpufleet.testbed.fakeapiserver.object.ApiError;
import io.gpufleet.testbed.fakeapiserver.object.GroupResource;
import io.gpufleet.testbed.fakeapiserver.object.Json;
import io.gpufleet.testbed.fakeapiserver.object.StatusCause;
import io.gpufleet.testbed.fakeapiserver.store.ObjectKey;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** Creates and updates objects, from the body of the request to the store. */
final class WriteHandler {
    private static final GroupResource NAMESPACES = new GroupResource("", "namespaces");

    private final ServerContext context;
    private final DeleteHandler deleteHandler;
    private final ObjectPreparation preparation = new ObjectPreparation();

    WriteHandler(ServerContext cluster, DeleteHandler removal) {
        this.context = cluster;
        this.deleteHandler = removal;
    }

    /** An update of the stored object. */
    interface UpdateFunction {
        /** The new object, or an error. Called again after a concurrent write. */
        ObjectNode apply(ObjectNode live);
    }

    ObjectNode create(RequestInfo target, ObjectNode body, ApiRequest call) {
        return create(target, body, call, FieldOwner.forUpdate(call.fieldManager(), "", target.type()));
    }

    /** Creates an object for a field manager; one that applies owns the fields that it sent. */
    ObjectNode create(RequestInfo target, ObjectNode body, ApiRequest call, FieldOwner writer) {
        String now = context.now();
        ObjectNode object = preparation.prepareForCreate(target, body, now);
        requireNamespace(target, object);
        AdmissionAttributes question = new AdmissionAttributes(
                target.type(), "CREATE", "", object, MissingNode.getInstance(), call.user(), call.dryRun());
        object = context.webhooks().mutate(question, call.warnings());
        if (target.type().isCore("pods")) {
            PodValidation.validateCreate(target.type(), object);
        } else if (target.type().isCore("nodes")) {
            NodeValidation.validate(target.type(), object);
        }
        object = withManagedFields(target, body, object, writer, now);
        context.webhooks().validate(question.withObject(object), call.warnings());
        if (call.dryRun()) {
            return object;
        }
        ObjectNode stored = context.store().create(target.resource(), object);
        onStored(target, stored);
        return stored;
    }

    private static ObjectNode withManagedFields(
            RequestInfo target, ObjectNode body, ObjectNode object, FieldOwner writer, String now) {
        if (!writer.operation().equals("Apply")) {
            return FieldManagement.updated(target.type(), Json.object(), object, writer, now);
        }
        // Ownership only: the content already has defaults and canonical quantities.
        ObjectNode claims = FieldManagement.applied(target.type(), object, body, writer, true, now);
        ObjectNode result = object.deepCopy();
        Json.withObject(result, "metadata").set("managedFields", Json.at(claims, "metadata", "managedFields"));
        return result;
    }

    /** Handles PUT: replaces an object. */
    ObjectNode update(RequestInfo target, ApiRequest call) {
        ObjectNode body = call.bodyObject();
        boolean blind = Json.text(body, "metadata", "resourceVersion").isEmpty();
        if (blind && target.type().custom()) {
            throw ApiError.invalid(
                    target.resource(),
                    target.type().kind(),
                    target.name(),
                    List.of(new StatusCause(
                            "metadata.resourceVersion",
                            "FieldValueInvalid",
                            "Invalid value: 0x0: must be specified for an update")));
        }
        return guaranteedUpdate(
                target,
                call,
                FieldOwner.forUpdate(call.fieldManager(), target.subresource(), target.type()),
                live -> body);
    }

    /** Updates the stored object, with retries unless the request has a resourceVersion. */
    ObjectNode guaranteedUpdate(RequestInfo target, ApiRequest call, FieldOwner writer, UpdateFunction change) {
        while (true) {
            ObjectNode live = context.store()
                    .get(target.resource(), target.key())
                    .orElseThrow(() -> ApiError.notFound(target.resource(), target.name()));
            ObjectNode shown = ServerContext.inVersion(target.type(), live);
            Optional<ObjectNode> done = tryUpdate(target, call, writer, live, change.apply(shown));
            if (done.isPresent()) {
                return done.get();
            }
        }
    }

    private Optional<ObjectNode> tryUpdate(
            RequestInfo target, ApiRequest call, FieldOwner writer, ObjectNode live, ObjectNode wanted) {
        preconditions(target, call, live, wanted);
        ObjectNode next = preparation.prepareForUpdate(target, live, wanted);
        AdmissionAttributes question = new AdmissionAttributes(
                target.type(), "UPDATE", target.subresource(), next, live, call.user(), call.dryRun());
        next = context.webhooks().mutate(question, call.warnings());
        if (target.type().isCore("pods") && target.subresource().isEmpty()) {
            PodValidation.validateUpdate(target.type(), live, next);
        }
        if (target.type().isCore("nodes")) {
            NodeValidation.validate(target.type(), next);
        }
        if (!writer.operation().equals("Apply")) {
            next = FieldManagement.updated(target.type(), live, next, writer, context.now());
        }
        Json.withObject(next, "metadata").put("resourceVersion", Json.text(live, "metadata", "resourceVersion"));
        if (FieldManagement.unchanged(live, next)) {
            return Optional.of(ServerContext.inVersion(target.type(), live));
        }
        context.webhooks().validate(question.withObject(next), call.warnings());
        if (call.dryRun()) {
            return Optional.of(next);
        }
        if (DeleteHandler.isDeletable(target, next)) {
            return context.store().remove(target.resource(), live, next)
                    ? Optional.of(deleteHandler.afterDelete(target, next))
                    : Optional.empty();
        }
        Optional<ObjectNode> stored = context.store().replace(target.resource(), live, next);
        stored.ifPresent(object -> onStored(target, object));
        return stored;
    }

    private static void preconditions(RequestInfo target, ApiRequest call, ObjectNode live, JsonNode wanted) {
        String version = Json.text(wanted, "metadata", "resourceVersion");
        if (!version.isEmpty() && !version.equals(Json.text(live, "metadata", "resourceVersion"))) {
            throw ApiError.staleResourceVersion(target.resource(), target.name());
        }
        String uid = Json.text(wanted, "metadata", "uid");
        String liveUid = Json.text(live, "metadata", "uid");
        if (uid.isEmpty() || uid.equals(liveUid)) {
            return;
        }
        if (call.method().equals("PATCH")) {
            // A precondition in a PUT; for a patch an error, since the uid is immutable.
            throw ApiError.invalid(
                    target.resource(),
                    target.type().kind(),
                    target.name(),
                    List.of(StatusCause.invalid("metadata.uid", uid, "field is immutable")));
        } else {
            throw ApiError.conflict(
                    target.resource(),
                    target.name(),
                    "Precondition failed: UID in precondition: " + uid + ", UID in object meta: " + liveUid);
        }
    }

    private void requireNamespace(RequestInfo target, ObjectNode object) {
        if (target.namespace().isEmpty()) {
            return;
        }
        ObjectNode namespace = context.store()
                .get(NAMESPACES, new ObjectKey("", target.namespace()))
                .orElseThrow(() -> ApiError.notFound(NAMESPACES, target.namespace()));
        if (Json.at(namespace, "metadata").has("deletionTimestamp")) {
            throw ApiError.forbidden(
                    target.resource(),
                    Json.name(object),
                    "unable to create new content in namespace " + target.namespace()
                            + " because it is being terminated");
        }
    }

    private void onStored(RequestInfo target, ObjectNode stored) {
        if (target.resource().plural().equals("customresourcedefinitions")) {
            context.types().register(stored);
        } else if (target.type().isCore("namespaces")) {
            createServiceAccount(target.name().isEmpty() ? Json.name(stored) : target.name());
        }
    }

    /** Creates the default service account of a namespace, which a controller does in a real cluster. */
    private void createServiceAccount(String namespace) {
        GroupResource accounts = new GroupResource("", "serviceaccounts");
        boolean there = context.store()
                .get(accounts, new ObjectKey(namespace, "default"))
                .isPresent();
        boolean ending = context.store()
                .get(NAMESPACES, new ObjectKey("", namespace))
                .map(found -> found.path("metadata").has("deletionTimestamp"))
                .orElse(true);
        if (!there && !ending) {
            ObjectNode account = Json.object().put("apiVersion", "v1").put("kind", "ServiceAccount");
            account.putObject("metadata")
                    .put("name", "default")
                    .put("namespace", namespace)
                    .put("uid", UUID.randomUUID().toString())
                    .put("creationTimestamp", context.now());
            context.store().create(accounts, account);
        }
    }
}
