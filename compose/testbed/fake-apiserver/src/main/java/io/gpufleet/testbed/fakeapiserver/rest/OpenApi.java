package io.gpufleet.testbed.fakeapiserver.rest;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.testbed.fakeapiserver.object.ApiError;
import io.gpufleet.testbed.fakeapiserver.object.Json;
import io.gpufleet.testbed.fakeapiserver.type.ResourceType;
import io.gpufleet.testbed.fakeapiserver.type.ResourceTypes;
import java.util.List;

/**
 * The part of OpenAPI v3 that kubectl needs before it creates or applies: each PATCH takes {@code fieldValidation}, so
 * that kubectl leaves validation to the server. There are no schemas, as none are enforced.
 */
final class OpenApi {
    private static final String ROOT = "/openapi/v3";

    private final ResourceTypes types;

    OpenApi(ResourceTypes types) {
        this.types = types;
    }

    static boolean handles(String path) {
        return path.equals(ROOT) || path.startsWith(ROOT + "/");
    }

    ApiResponse handle(String path) {
        return ApiResponse.ok(path.equals(ROOT) ? index() : document(path.substring(ROOT.length() + 1)));
    }

    private ObjectNode index() {
        ObjectNode index = Json.object();
        ObjectNode paths = index.putObject("paths");
        types.all()
                .forEach(type -> paths.putObject(groupVersionPath(type))
                        .put("serverRelativeURL", ROOT + "/" + groupVersionPath(type)));
        return index;
    }

    private ObjectNode document(String path) {
        List<ResourceType> served = types.all().stream()
                .filter(type -> groupVersionPath(type).equals(path))
                .toList();
        if (served.isEmpty()) {
            throw ApiError.noSuchPath();
        }
        ObjectNode document = Json.object().put("openapi", "3.0.0");
        document.putObject("info").put("title", "gpufleet fake API server").put("version", "v1.34.0");
        ObjectNode paths = document.putObject("paths");
        for (ResourceType type : served) {
            String scope = type.namespaced() ? "/namespaces/{namespace}" : "";
            ObjectNode patch = paths.putObject(
                            "/" + path + scope + "/" + type.resource().plural() + "/{name}")
                    .putObject("patch");
            for (String parameter : List.of("fieldValidation", "dryRun", "fieldManager", "force")) {
                ObjectNode entry = patch.withArray("parameters").addObject();
                entry.put("name", parameter)
                        .put("in", "query")
                        .putObject("schema")
                        .put("type", "string");
            }
            patch.putObject("responses");
            patch.putObject("x-kubernetes-group-version-kind")
                    .put("group", type.resource().group())
                    .put("version", type.version())
                    .put("kind", type.kind());
        }
        return document;
    }

    private static String groupVersionPath(ResourceType type) {
        return (type.resource().group().isEmpty() ? "api/" : "apis/") + type.apiVersion();
    }
}
