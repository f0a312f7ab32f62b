package io.gpufleet.cli.health;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gpufleet.kit.config.ConfigurationException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** Reads the REST interface of a health-service. */
public final class HealthClient {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private final String server;
    private final String token;

    /**
     * Reads from a server.
     *
     * @param server URL without a path
     * @param token Kubernetes token; empty where the server asks for none
     */
    public HealthClient(String server, String token) {
        if (!server.matches("https?://[^/]+/?")) {
            throw new ConfigurationException(
                    "--server '" + server + "' is not usable: it takes a URL such as http://127.0.0.1:8080");
        }
        this.server = server.endsWith("/") ? server.substring(0, server.length() - 1) : server;
        this.token = token;
    }

    /** The explanation of a node; the exception of a refusal has the detail of the server. */
    public JsonNode why(String node) throws InterruptedException {
        String path = "/v1/nodes/" + URLEncoder.encode(node, StandardCharsets.UTF_8) + "/why";
        var request = HttpRequest.newBuilder(URI.create(server + path))
                .version(HttpClient.Version.HTTP_1_1)
                .timeout(TIMEOUT);
        if (!token.isEmpty()) {
            request.header("authorization", "Bearer " + token);
        }
        try (HttpClient client = HttpClient.newHttpClient()) {
            HttpResponse<String> response = client.send(request.build(), HttpResponse.BodyHandlers.ofString());
            JsonNode body = new ObjectMapper().readTree(response.body());
            if (response.statusCode() != 200) {
                throw new ConfigurationException("the health-service says " + response.statusCode() + ": "
                        + body.path("detail").asText());
            }
            return body;
        } catch (JsonProcessingException unexpected) {
            throw new IllegalStateException(server + " is no health-service: its answer is no JSON", unexpected);
        } catch (IOException failed) {
            throw new UncheckedIOException("the health-service at " + server + " does not answer", failed);
        }
    }
}
