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

/** Uses the REST interface of a health-service. */
public final class HealthClient {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private final String server;
    private final String token;

    /**
     * Uses a server.
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
        return send(HttpRequest.newBuilder(URI.create(ofNode(node) + "/why")), 200);
    }

    /** Issues a command about a node, for example {@code begin-maintenance}; returns once it is on the log. */
    public void command(String node, String command, String reason) throws InterruptedException {
        post(ofNode(node) + "/" + command, reason);
    }

    /** Issues a command about the fleet, for example {@code freeze}; returns once it is on the log. */
    public void fleetCommand(String command, String reason) throws InterruptedException {
        post(server + "/v1/" + command, reason);
    }

    private String ofNode(String node) {
        return server + "/v1/nodes/" + URLEncoder.encode(node, StandardCharsets.UTF_8);
    }

    private void post(String address, String reason) throws InterruptedException {
        String body = JSON.createObjectNode().put("reason", reason).toString();
        var request = HttpRequest.newBuilder(URI.create(address))
                .header("content-type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body));
        var _ = send(request, 202);
    }

    private JsonNode send(HttpRequest.Builder request, int expected) throws InterruptedException {
        request.version(HttpClient.Version.HTTP_1_1).timeout(TIMEOUT);
        if (!token.isEmpty()) {
            request.header("authorization", "Bearer " + token);
        }
        try (HttpClient client = HttpClient.newHttpClient()) {
            HttpResponse<String> response = client.send(request.build(), HttpResponse.BodyHandlers.ofString());
            JsonNode body = JSON.readTree(response.body());
            if (response.statusCode() != expected) {
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
