package io.gpufleet.compose.kubeapi.rest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.compose.kubeapi.admission.PodRules;
import io.gpufleet.compose.kubeapi.admission.Question;
import io.gpufleet.compose.kubeapi.apply.FieldManagement;
import io.gpufleet.compose.kubeapi.apply.Writer;
import io.gpufleet.compose.kubeapi.object.ApiError;
import io.gpufleet.compose.kubeapi.object.Cause;
import io.gpufleet.compose.kubeapi.object.GroupResource;
import io.gpufleet.compose.kubeapi.object.Json;
import io.gpufleet.compose.kubeapi.store.Key;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** Creating and changing, from the client's tree to the store. */
final class Writes {
    private static final GroupResource NAMESPACES = new GroupResource("", "namespaces");

    private final Cluster cluster;
    private final Removal removal;
    private final Preparation preparation = new Preparation();

    Writes(Cluster cluster, Removal removal) {
        this.cluster = cluster;
        this.removal = removal;
    }

    /** What is to become of the stored object. */
    interface Change {
        /** The wanted object; it may refuse. It is asked again when somebody else was faster. */
        ObjectNode of(ObjectNode live);
    }

    ObjectNode create(Target target, ObjectNode body, Call call) {
        return create(target, body, call, Writer.updating(call.manager(), "", target.type()));
    }

    /** Creates on behalf of a writer; what an applying writer sent is what it owns. */
    ObjectNode create(Target target, ObjectNode body, Call call, Writer writer) {
        String now = cluster.now();
        ObjectNode object = preparation.forCreation(target, body, now);
        requireNamespace(target, object);
        Question question = new Question(
                target.type(), "CREATE", "", object, MissingNode.getInstance(), call.user(), call.dryRun());
        object = cluster.webhooks().mutate(question, call.warnings());
        if (target.type().isCore("pods")) {
            PodRules.checkNew(target.type(), object);
        }
        object = owned(target, body, object, writer, now);
        cluster.webhooks().validate(question.about(object), call.warnings());
        if (call.dryRun()) {
            return object;
        }
        ObjectNode stored = cluster.store().create(target.resource(), object);
        serve(target, stored);
        return stored;
    }

    private static ObjectNode owned(Target target, ObjectNode body, ObjectNode object, Writer writer, String now) {
        if (!writer.operation().equals("Apply")) {
            return FieldManagement.updated(target.type(), Json.object(), object, writer, now);
        }
        // Only the claims: the content has its defaults and canonical quantities already.
        ObjectNode claims = FieldManagement.applied(target.type(), object, body, writer, true, now);
        ObjectNode result = object.deepCopy();
        Json.dig(result, "metadata").set("managedFields", Json.at(claims, "metadata", "managedFields"));
        return result;
    }

    /** Replaces the object that a client read before. */
    ObjectNode update(Target target, Call call) {
        ObjectNode body = call.object();
        boolean blind = Json.text(body, "metadata", "resourceVersion").isEmpty();
        if (blind && target.type().custom()) {
            throw ApiError.invalid(
                    target.resource(),
                    target.type().kind(),
                    target.name(),
                    List.of(new Cause(
                            "metadata.resourceVersion",
                            "FieldValueInvalid",
                            "Invalid value: 0x0: must be specified for an update")));
        }
        return change(target, call, Writer.updating(call.manager(), target.subresource(), target.type()), live -> body);
    }

    /** Changes the stored object; as often as it takes, unless the change insists on a resourceVersion. */
    ObjectNode change(Target target, Call call, Writer writer, Change change) {
        while (true) {
            ObjectNode live = cluster.store()
                    .get(target.resource(), target.key())
                    .orElseThrow(() -> ApiError.notFound(target.resource(), target.name()));
            ObjectNode shown = Cluster.shown(target.type(), live);
            Optional<ObjectNode> done = attempt(target, call, writer, live, change.of(shown));
            if (done.isPresent()) {
                return done.get();
            }
        }
    }

    private Optional<ObjectNode> attempt(Target target, Call call, Writer writer, ObjectNode live, ObjectNode wanted) {
        preconditions(target, call, live, wanted);
        ObjectNode next = preparation.forChange(target, live, wanted);
        Question question =
                new Question(target.type(), "UPDATE", target.subresource(), next, live, call.user(), call.dryRun());
        next = cluster.webhooks().mutate(question, call.warnings());
        if (target.type().isCore("pods") && target.subresource().isEmpty()) {
            PodRules.checkChange(target.type(), live, next);
        }
        if (!writer.operation().equals("Apply")) {
            next = FieldManagement.updated(target.type(), live, next, writer, cluster.now());
        }
        Json.dig(next, "metadata").put("resourceVersion", Json.text(live, "metadata", "resourceVersion"));
        if (FieldManagement.unchanged(live, next)) {
            return Optional.of(Cluster.shown(target.type(), live));
        }
        cluster.webhooks().validate(question.about(next), call.warnings());
        if (call.dryRun()) {
            return Optional.of(next);
        }
        if (Removal.due(target, next)) {
            return cluster.store().remove(target.resource(), live, next)
                    ? Optional.of(removal.after(target, next))
                    : Optional.empty();
        }
        Optional<ObjectNode> stored = cluster.store().replace(target.resource(), live, next);
        stored.ifPresent(object -> serve(target, object));
        return stored;
    }

    private static void preconditions(Target target, Call call, ObjectNode live, JsonNode wanted) {
        String version = Json.text(wanted, "metadata", "resourceVersion");
        if (!version.isEmpty() && !version.equals(Json.text(live, "metadata", "resourceVersion"))) {
            throw ApiError.stale(target.resource(), target.name());
        }
        String uid = Json.text(wanted, "metadata", "uid");
        String liveUid = Json.text(live, "metadata", "uid");
        if (uid.isEmpty() || uid.equals(liveUid)) {
            return;
        }
        if (call.method().equals("PATCH")) {
            // Only a PUT makes a precondition of it; a patch is told that it may not change the uid.
            throw ApiError.invalid(
                    target.resource(),
                    target.type().kind(),
                    target.name(),
                    List.of(Cause.invalid("metadata.uid", uid, "field is immutable")));
        } else {
            throw ApiError.conflict(
                    target.resource(),
                    target.name(),
                    "Precondition failed: UID in precondition: " + uid + ", UID in object meta: " + liveUid);
        }
    }

    private void requireNamespace(Target target, ObjectNode object) {
        if (target.namespace().isEmpty()) {
            return;
        }
        ObjectNode namespace = cluster.store()
                .get(NAMESPACES, new Key("", target.namespace()))
                .orElseThrow(() -> ApiError.notFound(NAMESPACES, target.namespace()));
        if (Json.at(namespace, "metadata").has("deletionTimestamp")) {
            throw ApiError.forbidden(
                    target.resource(),
                    Json.name(object),
                    "unable to create new content in namespace " + target.namespace()
                            + " because it is being terminated");
        }
    }

    private void serve(Target target, ObjectNode stored) {
        if (target.resource().plural().equals("customresourcedefinitions")) {
            cluster.types().define(stored);
        } else if (target.type().isCore("namespaces")) {
            giveServiceAccount(target.name().isEmpty() ? Json.name(stored) : target.name());
        }
    }

    /** Every namespace has the account that pods run under by default; in a real cluster a controller sees to it. */
    private void giveServiceAccount(String namespace) {
        GroupResource accounts = new GroupResource("", "serviceaccounts");
        boolean there =
                cluster.store().get(accounts, new Key(namespace, "default")).isPresent();
        boolean ending = cluster.store()
                .get(NAMESPACES, new Key("", namespace))
                .map(found -> found.path("metadata").has("deletionTimestamp"))
                .orElse(true);
        if (!there && !ending) {
            ObjectNode account = Json.object().put("apiVersion", "v1").put("kind", "ServiceAccount");
            account.putObject("metadata")
                    .put("name", "default")
                    .put("namespace", namespace)
                    .put("uid", UUID.randomUUID().toString())
                    .put("creationTimestamp", cluster.now());
            cluster.store().create(accounts, account);
        }
    }
}
