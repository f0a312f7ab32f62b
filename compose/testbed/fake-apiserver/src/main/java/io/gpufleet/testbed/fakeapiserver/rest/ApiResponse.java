package io.gpufleet.testbed.fakeapiserver.rest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.testbed.fakeapiserver.object.Json;

/**
 * A response.
 *
 * @param status HTTP status
 * @param body an object, or the text of a plain page
 */
public record ApiResponse(int status, JsonNode body) {
    static ApiResponse ok(JsonNode body) {
        return new ApiResponse(200, body);
    }

    static ApiResponse created(JsonNode body) {
        return new ApiResponse(201, body);
    }

    /** The Status object of a success without another body. */
    static ObjectNode success() {
        ObjectNode status = Json.object().put("kind", "Status").put("apiVersion", "v1");
        status.putObject("metadata");
        return status.put("status", "Success");
    }
}
