package io.gpufleet.testbed.testkit;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SpecVersion;
import com.networknt.schema.ValidationMessage;
import io.vertx.core.http.HttpMethod;
import io.vertx.ext.web.Router;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** The OpenAPI document that a service serves, compared with its routes and its responses. */
public final class OpenApiContract {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int UNAUTHORIZED = 401;
    private static final String PROBLEM = "#/components/schemas/Problem";

    private final ObjectNode document;

    private OpenApiContract(ObjectNode document) {
        this.document = document;
    }

    /** Reads a document in YAML. */
    public static OpenApiContract of(String yaml) {
        try {
            return new OpenApiContract((ObjectNode) new YAMLMapper().readTree(yaml));
        } catch (JsonProcessingException unreadable) {
            throw new IllegalArgumentException("no OpenAPI document: " + yaml, unreadable);
        }
    }

    /** Methods and paths of the document, for example {@code GET /v1/nodes/{node}}. */
    public Set<String> operations() {
        var operations = new TreeSet<String>();
        document.get("paths")
                .properties()
                .forEach(path -> path.getValue()
                        .fieldNames()
                        .forEachRemaining(method -> operations.add(operation(method, path.getKey()))));
        return operations;
    }

    /** The operations that a server does not answer with 401 where the caller shows no token. */
    public Set<String> withoutToken(URI server) throws IOException, InterruptedException {
        var open = new TreeSet<String>();
        try (var client = HttpClient.newHttpClient()) {
            for (String operation : operations()) {
                String[] parts = operation.split(" ", 2);
                URI path = server.resolve(parts[1].replaceAll("\\{\\w+}", "any"));
                var request = HttpRequest.newBuilder(path).method(parts[0], HttpRequest.BodyPublishers.noBody());
                var response = client.send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
                // Closed unread: a stream of events has no end.
                response.body().close();
                if (response.statusCode() != UNAUTHORIZED) {
                    open.add(operation);
                }
            }
        }
        return open;
    }

    /** Methods and paths of a router, in the form of the document; what handles every method is no operation. */
    public static Set<String> routes(Router router) {
        var routes = new TreeSet<String>();
        router.getRoutes().stream().filter(route -> route.methods() != null).forEach(route -> {
            for (HttpMethod method : route.methods()) {
                routes.add(operation(method.name(), route.getName().replaceAll(":(\\w+)", "{$1}")));
            }
        });
        return routes;
    }

    /**
     * Violations of the document by a response: its status, its content type, or its body. The answer to a method
     * or a path that the document does not have must be a problem.
     */
    public List<String> violations(HttpResponse<String> response) {
        String path = response.request().uri().getPath();
        JsonNode operation = document.get("paths").properties().stream()
                .filter(entry -> path.matches(entry.getKey().replaceAll("\\{\\w+}", "[^/]+")))
                .findFirst()
                .map(entry -> entry.getValue().path(response.request().method().toLowerCase(Locale.ROOT)))
                .orElse(JSON.missingNode());
        JsonNode allowed = operation.isMissingNode()
                ? document.at("/components/responses/Problem")
                : resolved(operation.at("/responses/" + response.statusCode()));
        String type = response.headers().firstValue("content-type").orElse("").replaceFirst(";.*", "");
        JsonNode schema = allowed.path("content").path(type).path("schema");
        if (schema.isMissingNode()) {
            return List.of(response.statusCode() + " as '" + type + "' is not in the document: " + response.body());
        }
        if (response.statusCode() >= 400 && PROBLEM.equals(schema.path("$ref").asText())) {
            return violations(PROBLEM, response, body(type, response));
        }
        return schema.has("$ref") ? violations(schema.get("$ref").asText(), response, body(type, response)) : List.of();
    }

    private List<String> violations(String reference, HttpResponse<String> response, JsonNode body) {
        if (reference.equals(PROBLEM) && body.path("status").asInt() != response.statusCode()) {
            return List.of("the problem states another status than " + response.statusCode() + ": " + body);
        }
        return JsonSchemaFactory.getInstance(SpecVersion.VersionFlag.V202012)
                .getSchema(document.deepCopy().put("$ref", reference))
                .validate(body)
                .stream()
                .map(ValidationMessage::getMessage)
                .map(message -> message + " in " + body)
                .collect(Collectors.toList());
    }

    private JsonNode resolved(JsonNode response) {
        return response.has("$ref") ? document.at(response.get("$ref").asText().substring(1)) : response;
    }

    private static JsonNode body(String type, HttpResponse<String> response) {
        try {
            return type.endsWith("json") ? JSON.readTree(response.body()) : TextNode.valueOf(response.body());
        } catch (JsonProcessingException unreadable) {
            throw new IllegalArgumentException("no JSON: " + response.body(), unreadable);
        }
    }

    private static String operation(String method, String path) {
        return method.toUpperCase(Locale.ROOT) + " " + path;
    }
}
