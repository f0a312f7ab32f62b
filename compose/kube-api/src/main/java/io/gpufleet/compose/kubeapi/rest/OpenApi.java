package io.gpufleet.compose.kubeapi.rest;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.compose.kubeapi.object.ApiError;
import io.gpufleet.compose.kubeapi.object.Json;
import io.gpufleet.compose.kubeapi.type.ResourceType;
import io.gpufleet.compose.kubeapi.type.Types;
import java.util.List;

/**
 * As much of OpenAPI v3 as kubectl wants before it creates or applies: that each PATCH takes {@code fieldValidation},
 * so that it leaves the validation to the server. There are no schemas in it, as none are enforced.
 */
final class OpenApi {
    private static final String ROOT = "/openapi/v3";

    private final Types types;

    OpenApi(Types types) {
        this.types = types;
    }

    static boolean covers(String path) {
        return path.equals(ROOT) || path.startsWith(ROOT + "/");
    }

    Answer answer(String path) {
        return Answer.ok(path.equals(ROOT) ? index() : document(path.substring(ROOT.length() + 1)));
    }

    private ObjectNode index() {
        ObjectNode index = Json.object();
        ObjectNode paths = index.putObject("paths");
        types.all().forEach(type -> paths.putObject(folder(type)).put("serverRelativeURL", ROOT + "/" + folder(type)));
        return index;
    }

    private ObjectNode document(String folder) {
        List<ResourceType> served =
                types.all().stream().filter(type -> folder(type).equals(folder)).toList();
        if (served.isEmpty()) {
            throw ApiError.noSuchPath();
        }
        ObjectNode document = Json.object().put("openapi", "3.0.0");
        document.putObject("info").put("title", "gpufleet stand-in API").put("version", "v1.34.0");
        ObjectNode paths = document.putObject("paths");
        for (ResourceType type : served) {
            String scope = type.namespaced() ? "/namespaces/{namespace}" : "";
            ObjectNode patch = paths.putObject(
                            "/" + folder + scope + "/" + type.resource().plural() + "/{name}")
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

    private static String folder(ResourceType type) {
        return (type.resource().group().isEmpty() ? "api/" : "apis/") + type.apiVersion();
    }
}
