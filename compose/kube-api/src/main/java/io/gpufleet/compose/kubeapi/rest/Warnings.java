package io.gpufleet.compose.kubeapi.rest;

import com.fasterxml.jackson.databind.JsonNode;
import io.gpufleet.compose.kubeapi.object.Json;
import java.util.ArrayList;
import java.util.List;

/** What the stand-in takes but does not do in full, said to whoever writes it. */
final class Warnings {
    private Warnings() {}

    static List<String> of(Target target, JsonNode body) {
        List<String> warnings = new ArrayList<>();
        if (target.resource().group().equals("admissionregistration.k8s.io")) {
            for (JsonNode webhook : body.path("webhooks")) {
                if (!webhook.path("matchConditions").isEmpty()) {
                    warnings.add("stand-in API: matchConditions of webhook " + Json.text(webhook, "name")
                            + " are CEL and not evaluated; it is asked as if all of them held");
                }
                if (webhook.path("clientConfig").has("service")) {
                    warnings.add("stand-in API: webhook " + Json.text(webhook, "name")
                            + " names a Service, which is not routed to; use clientConfig.url");
                }
            }
        }
        return warnings;
    }
}
