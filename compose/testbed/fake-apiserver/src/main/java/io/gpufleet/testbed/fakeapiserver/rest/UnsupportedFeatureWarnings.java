package io.gpufleet.testbed.fakeapiserver.rest;

import com.fasterxml.jackson.databind.JsonNode;
import io.gpufleet.testbed.fakeapiserver.object.Json;
import java.util.ArrayList;
import java.util.List;

/** Warnings for the author of an object with features that the server accepts but does not support in full. */
final class UnsupportedFeatureWarnings {
    private UnsupportedFeatureWarnings() {}

    static List<String> of(RequestInfo target, JsonNode body) {
        List<String> warnings = new ArrayList<>();
        if (target.resource().group().equals("admissionregistration.k8s.io")) {
            for (JsonNode webhook : body.path("webhooks")) {
                if (!webhook.path("matchConditions").isEmpty()) {
                    warnings.add("fake API server: matchConditions of webhook " + Json.text(webhook, "name")
                            + " are CEL and not evaluated; it is called as if all of them matched");
                }
                if (webhook.path("clientConfig").has("service")) {
                    warnings.add("fake API server: webhook " + Json.text(webhook, "name")
                            + " names a Service, which is not routed to; use clientConfig.url");
                }
            }
        }
        return warnings;
    }
}
