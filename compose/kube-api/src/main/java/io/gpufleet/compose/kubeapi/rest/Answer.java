package io.gpufleet.compose.kubeapi.rest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.compose.kubeapi.object.Json;

/**
 * What goes back.
 *
 * @param status HTTP status
 * @param body an object, or a text for the few plain pages
 */
public record Answer(int status, JsonNode body) {
    static Answer ok(JsonNode body) {
        return new Answer(200, body);
    }

    static Answer created(JsonNode body) {
        return new Answer(201, body);
    }

    /** The Status object of a success that has nothing else to show. */
    static ObjectNode success() {
        ObjectNode status = Json.object().put("kind", "Status").put("apiVersion", "v1");
        status.putObject("metadata");
        return status.put("status", "Success");
    }
}
