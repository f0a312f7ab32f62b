package io.gpufleet.testbed.fakeapiserver.admission;

import com.fasterxml.jackson.databind.JsonNode;
import io.gpufleet.testbed.fakeapiserver.object.Json;
import io.gpufleet.testbed.fakeapiserver.select.LabelSelector;

/**
 * A webhook of a configuration.
 *
 * @param spec as it was registered
 * @param mutating true when it may change the object
 */
record Webhook(JsonNode spec, boolean mutating) {
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
     * True when the rules and selectors match a request. matchConditions are CEL, which is not evaluated: they count as
     * matching, so that a webhook is called too often rather than too rarely.
     */
    boolean matches(AdmissionAttributes question, JsonNode namespace) {
        boolean ruled = false;
        for (JsonNode rule : spec.path("rules")) {
            ruled |= matchesRule(rule, question);
        }
        boolean inNamespace = question.namespace().isEmpty()
                || LabelSelector.of(spec.path("namespaceSelector")).test(namespace);
        LabelSelector objects = LabelSelector.of(spec.path("objectSelector"));
        return ruled && inNamespace && (objects.test(question.object()) || objects.test(question.oldObject()));
    }

    private static boolean matchesRule(JsonNode rule, AdmissionAttributes question) {
        String plural = question.type().resource().plural();
        String sub = question.subresource();
        String scope = rule.path("scope").asText("*");
        return contains(rule.path("operations"), question.operation())
                && contains(rule.path("apiGroups"), question.type().resource().group())
                && contains(rule.path("apiVersions"), question.type().version())
                && (scope.equals("*")
                        || scope.equals("Namespaced") == question.type().namespaced())
                && matchesResource(rule.path("resources"), plural, sub);
    }

    private static boolean matchesResource(JsonNode resources, String plural, String sub) {
        for (JsonNode entry : resources) {
            String[] wanted = entry.asText().split("/", 2);
            boolean sameSub = wanted.length == 2 ? wanted[1].equals(sub) || wanted[1].equals("*") : sub.isEmpty();
            if (sameSub && (wanted[0].equals("*") || wanted[0].equals(plural))) {
                return true;
            }
        }
        return false;
    }

    private static boolean contains(JsonNode list, String wanted) {
        for (JsonNode entry : list) {
            if (entry.asText().equals("*") || entry.asText().equals(wanted)) {
                return true;
            }
        }
        return false;
    }
}
