package io.gpufleet.testbed.fakeapiserver.rest;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.testbed.fakeapiserver.admission.AdmissionAttributes.UserInfo;
import io.gpufleet.testbed.fakeapiserver.object.ApiError;
import io.gpufleet.testbed.fakeapiserver.object.Json;
import java.util.List;
import java.util.Map;

/**
 * A request.
 *
 * @param method upper-case HTTP method
 * @param path decoded, without the query
 * @param query parameters
 * @param headers the headers that matter
 * @param user the authenticated user
 * @param body may be empty
 * @param warnings warning headers of the response, filled by handlers
 */
public record ApiRequest(
        String method,
        String path,
        Map<String, String> query,
        Headers headers,
        UserInfo user,
        byte[] body,
        List<String> warnings) {
    /**
     * The headers that matter.
     *
     * @param contentType of the body, without parameters; empty when there is none
     * @param accept accepted media types
     * @param userAgent name of the field manager unless the request has one
     */
    public record Headers(String contentType, String accept, String userAgent) {}

    String contentType() {
        return headers.contentType();
    }

    String accept() {
        return headers.accept();
    }

    String parameter(String name) {
        return query.getOrDefault(name, "");
    }

    boolean booleanParameter(String name) {
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

    /** The field manager. */
    String fieldManager() {
        String named = parameter("fieldManager");
        if (!named.isEmpty()) {
            return named;
        }
        String agent = headers.userAgent().split("[/ ]", 2)[0];
        return agent.isEmpty() ? "unknown" : agent;
    }

    /** The body as an object; protobuf is an error but for a Namespace. */
    ObjectNode bodyObject() {
        if (contentType().contains("protobuf")) {
            return ProtobufBody.decode(body);
        }
        if (contentType().contains("cbor")) {
            throw ApiError.unsupportedMedia("application/json, application/yaml");
        }
        return Json.object(body);
    }
}
