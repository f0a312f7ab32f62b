package io.gpufleet.compose.kubeapi.rest;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.compose.kubeapi.admission.Question.User;
import io.gpufleet.compose.kubeapi.object.ApiError;
import io.gpufleet.compose.kubeapi.object.Json;
import java.util.List;
import java.util.Map;

/**
 * One request, read.
 *
 * @param method upper-case HTTP method
 * @param path decoded, without the query
 * @param query parameters
 * @param contentType of the body, without parameters; empty when there is none
 * @param accept what the client would like
 * @param userAgent names the field manager when the request does not
 * @param user who sends it
 * @param body may be empty
 * @param warnings filled on the way; they go out as headers
 */
public record Call(
        String method,
        String path,
        Map<String, String> query,
        String contentType,
        String accept,
        String userAgent,
        User user,
        byte[] body,
        List<String> warnings) {
    String parameter(String name) {
        return query.getOrDefault(name, "");
    }

    boolean flag(String name) {
        String value = parameter(name);
        return value.equals("true") || value.equals("1");
    }

    boolean dryRun() {
        String value = parameter("dryRun");
        if (!value.isEmpty() && !value.equals("All")) {
            throw ApiError.badRequest("dryRun: Unsupported value: \"" + value + "\": supported values: \"All\"");
        }
        return !value.isEmpty();
    }

    /** Who is written into managedFields. */
    String manager() {
        String named = parameter("fieldManager");
        if (!named.isEmpty()) {
            return named;
        }
        String agent = userAgent.split("[/ ]", 2)[0];
        return agent.isEmpty() ? "unknown" : agent;
    }

    /** The body as an object; protobuf is refused. */
    ObjectNode object() {
        if (contentType.contains("protobuf") || contentType.contains("cbor")) {
            throw ApiError.unsupportedMedia("application/json, application/yaml");
        }
        return Json.object(body);
    }
}
