package io.gpufleet.testbed.fakeapiserver.admission;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.testbed.fakeapiserver.object.ApiError;
import io.gpufleet.testbed.fakeapiserver.object.GroupResource;
import io.gpufleet.testbed.fakeapiserver.object.Json;
import io.gpufleet.testbed.fakeapiserver.patch.JsonPatch;
import io.gpufleet.testbed.fakeapiserver.store.ObjectKey;
import io.gpufleet.testbed.fakeapiserver.store.ObjectStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.UUID;

/** Calls the registered webhooks before an object is stored: mutating ones first, then validating ones. */
public final class WebhookDispatcher implements AutoCloseable {
    private static final String GROUP = "admissionregistration.k8s.io";

    private final ObjectStore store;
    private final WebhookClient client = new WebhookClient();

    /** Reads the configurations from the store at every request. */
    public WebhookDispatcher(ObjectStore store) {
        this.store = store;
    }

    /** The object with the patches of the mutating webhooks. */
    public ObjectNode mutate(AdmissionAttributes question, List<String> warnings) {
        JsonNode object = question.object();
        for (Webhook hook : matching(question, true)) {
            JsonNode response = callWebhook(hook, question.withObject(object), warnings);
            String patch = Json.text(response, "patch");
            if (!patch.isEmpty()) {
                object = JsonPatch.apply(object, Json.parse(Base64.getDecoder().decode(patch)));
            }
        }
        return (ObjectNode) object;
    }

    /** Calls the validating webhooks; a denial is an error. */
    public void validate(AdmissionAttributes question, List<String> warnings) {
        matching(question, false).forEach(hook -> callWebhook(hook, question, warnings));
    }

    private List<Webhook> matching(AdmissionAttributes question, boolean mutating) {
        if (question.type().resource().group().equals(GROUP)) {
            return List.of();
        }
        String plural = mutating ? "mutatingwebhookconfigurations" : "validatingwebhookconfigurations";
        JsonNode namespace = store.get(new GroupResource("", "namespaces"), new ObjectKey("", question.namespace()))
                .map(JsonNode.class::cast)
                .orElse(MissingNode.getInstance());
        List<Webhook> covering = new ArrayList<>();
        for (ObjectNode configuration :
                store.list(new GroupResource(GROUP, plural), "").objects()) {
            for (JsonNode spec : configuration.path("webhooks")) {
                Webhook hook = new Webhook(spec, mutating);
                if (hook.matches(question, namespace)) {
                    covering.add(hook);
                }
            }
        }
        return covering;
    }

    /** The response of a webhook that allows; a missing node when the call failed and failurePolicy is Ignore. */
    private JsonNode callWebhook(Webhook hook, AdmissionAttributes question, List<String> warnings) {
        if (question.dryRun() && !hook.safeInDryRun()) {
            throw ApiError.badRequest("admission webhook \"" + hook.name() + "\" does not support dry run");
        }
        JsonNode response;
        try {
            response = client.call(hook, question.review(UUID.randomUUID().toString()));
        } catch (WebhookClient.WebhookCallException notAnswered) {
            if (hook.ignoresFailure()) {
                return MissingNode.getInstance();
            }
            throw ApiError.internal("failed calling webhook \"" + hook.name() + "\": failed to call webhook: "
                    + notAnswered.getMessage());
        }
        response.path("warnings").forEach(warning -> warnings.add(warning.asText()));
        if (!response.path("allowed").asBoolean(false)) {
            throw denied(hook.name(), response.path("status"));
        }
        return response;
    }

    private static ApiError denied(String name, JsonNode result) {
        String by = "admission webhook \"" + name + "\" denied the request";
        String message = Json.text(result, "message");
        String reason = Json.text(result, "reason");
        ObjectNode status = Json.object().put("kind", "Status").put("apiVersion", "v1");
        status.putObject("metadata");
        status.put("status", "Failure");
        if (!message.isEmpty()) {
            status.put("message", by + ": " + message);
        } else {
            status.put("message", reason.isEmpty() ? by + " without explanation" : by + ": " + reason);
        }
        if (!reason.isEmpty()) {
            status.put("reason", reason);
        }
        if (result.has("details")) {
            status.set("details", result.get("details"));
        }
        return new ApiError(status.put("code", Math.max(400, result.path("code").asInt(400))));
    }

    @Override
    public void close() {
        client.close();
    }
}
