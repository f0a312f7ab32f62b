package io.gpufleet.compose.kubeapi.admission;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.compose.kubeapi.object.ApiError;
import io.gpufleet.compose.kubeapi.object.GroupResource;
import io.gpufleet.compose.kubeapi.object.Json;
import io.gpufleet.compose.kubeapi.patch.JsonPatch;
import io.gpufleet.compose.kubeapi.store.Key;
import io.gpufleet.compose.kubeapi.store.Store;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.UUID;

/** Asks the registered webhooks before something is stored: first those that change, then those that judge. */
public final class Webhooks implements AutoCloseable {
    private static final String GROUP = "admissionregistration.k8s.io";

    private final Store store;
    private final HookCall call = new HookCall();

    /** Reads the configurations from the store at every question. */
    public Webhooks(Store store) {
        this.store = store;
    }

    /** The object as the mutating webhooks want it. */
    public ObjectNode mutate(Question question, List<String> warnings) {
        JsonNode object = question.object();
        for (Hook hook : covering(question, true)) {
            JsonNode response = ask(hook, question.about(object), warnings);
            String patch = Json.text(response, "patch");
            if (!patch.isEmpty()) {
                object = JsonPatch.apply(object, Json.parse(Base64.getDecoder().decode(patch)));
            }
        }
        return (ObjectNode) object;
    }

    /** Refuses when a validating webhook does. */
    public void validate(Question question, List<String> warnings) {
        covering(question, false).forEach(hook -> ask(hook, question, warnings));
    }

    private List<Hook> covering(Question question, boolean mutating) {
        if (question.type().resource().group().equals(GROUP)) {
            return List.of();
        }
        String plural = mutating ? "mutatingwebhookconfigurations" : "validatingwebhookconfigurations";
        JsonNode namespace = store.get(new GroupResource("", "namespaces"), new Key("", question.namespace()))
                .map(JsonNode.class::cast)
                .orElse(MissingNode.getInstance());
        List<Hook> covering = new ArrayList<>();
        for (ObjectNode configuration :
                store.list(new GroupResource(GROUP, plural), "").objects()) {
            for (JsonNode spec : configuration.path("webhooks")) {
                Hook hook = new Hook(spec, mutating);
                if (hook.covers(question, namespace)) {
                    covering.add(hook);
                }
            }
        }
        return covering;
    }

    /** The response of a webhook that allows; a missing node when it could not be asked and that is to be ignored. */
    private JsonNode ask(Hook hook, Question question, List<String> warnings) {
        if (question.dryRun() && !hook.safeInDryRun()) {
            throw ApiError.badRequest("admission webhook \"" + hook.name() + "\" does not support dry run");
        }
        JsonNode response;
        try {
            response = call.ask(hook, question.review(UUID.randomUUID().toString()));
        } catch (HookCall.NotAnswered notAnswered) {
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
        call.close();
    }
}
