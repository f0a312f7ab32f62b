package io.gpufleet.compose.kubeapi.admission;

import com.fasterxml.jackson.databind.JsonNode;
import io.gpufleet.compose.kubeapi.object.Json;
import io.gpufleet.compose.kubeapi.select.LabelSelector;

/**
 * One webhook of a configuration.
 *
 * @param spec as it was registered
 * @param mutating whether it may change what it is asked about
 */
record Hook(JsonNode spec, boolean mutating) {
    String name() {
        return Json.text(spec, "name");
    }

    boolean ignoresFailure() {
        return Json.text(spec, "failurePolicy").equals("Ignore");
    }

    int timeoutSeconds() {
        return spec.path("timeoutSeconds").asInt(10);
    }

    boolean safeInDryRun() {
        String effects = Json.text(spec, "sideEffects");
        return effects.equals("None") || effects.equals("NoneOnDryRun");
    }

    /**
     * Whether the rules and selectors cover a question. matchConditions are CEL, which is not evaluated: they count as
     * fulfilled, so that a webhook is rather asked too often.
     */
    boolean covers(Question question, JsonNode namespace) {
        boolean ruled = false;
        for (JsonNode rule : spec.path("rules")) {
            ruled |= rules(rule, question);
        }
        boolean inNamespace = question.namespace().isEmpty()
                || LabelSelector.of(spec.path("namespaceSelector")).test(namespace);
        LabelSelector objects = LabelSelector.of(spec.path("objectSelector"));
        return ruled && inNamespace && (objects.test(question.object()) || objects.test(question.old()));
    }

    private static boolean rules(JsonNode rule, Question question) {
        String plural = question.type().resource().plural();
        String sub = question.subresource();
        String scope = rule.path("scope").asText("*");
        return has(rule.path("operations"), question.operation())
                && has(rule.path("apiGroups"), question.type().resource().group())
                && has(rule.path("apiVersions"), question.type().version())
                && (scope.equals("*")
                        || scope.equals("Namespaced") == question.type().namespaced())
                && resource(rule.path("resources"), plural, sub);
    }

    private static boolean resource(JsonNode resources, String plural, String sub) {
        for (JsonNode entry : resources) {
            String[] wanted = entry.asText().split("/", 2);
            boolean sameSub = wanted.length == 2 ? wanted[1].equals(sub) || wanted[1].equals("*") : sub.isEmpty();
            if (sameSub && (wanted[0].equals("*") || wanted[0].equals(plural))) {
                return true;
            }
        }
        return false;
    }

    private static boolean has(JsonNode list, String wanted) {
        for (JsonNode entry : list) {
            if (entry.asText().equals("*") || entry.asText().equals(wanted)) {
                return true;
            }
        }
        return false;
    }
}
