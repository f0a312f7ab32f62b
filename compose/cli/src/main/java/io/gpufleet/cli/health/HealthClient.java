package io.gpufleet.cli.health;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.kit.tls.TrustedAuthorities;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;

/** Uses the REST interface of a health-service. */
public final class HealthClient {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final String WHERE =
            "kubectl -n gpufleet-system get configmap gpufleet-ca -o jsonpath='{.data.ca\\.crt}'";

    private final String server;
    private final String token;
    private final Supplier<HttpClient> clients;

    /**
     * Uses a server in clear text, or one whose CA Java trusts.
     *
     * @param server URL without a path
     * @param token Kubernetes token; empty where the server asks for none
     */
    public HealthClient(String server, String token) {
        this(server, token, HttpClient::newHttpClient);
    }

    /** Uses a server whose certificate is by a CA of this PEM file. */
    public HealthClient(String server, String token, Path ca) {
        this(server, token, trusting(ca));
    }

    private HealthClient(String server, String token, Supplier<HttpClient> clients) {
        if (!server.matches("https?://[^/]+/?")) {
            throw new ConfigurationException(
                    "--server '" + server + "' is not usable: it takes a URL such as https://127.0.0.1:8080");
        }
        this.server = server.endsWith("/") ? server.substring(0, server.length() - 1) : server;
        this.token = token;
        this.clients = clients;
    }

    private static Supplier<HttpClient> trusting(Path ca) {
        try {
            SSLContext tls = TrustedAuthorities.tls(Files.readString(ca));
            return () -> HttpClient.newBuilder().sslContext(tls).build();
        } catch (GeneralSecurityException | IOException unusable) {
            throw new ConfigurationException(
                    "--ca '" + ca + "' is not usable: it takes a PEM file with the CA of the service (" + WHERE + ")");
        }
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
        try (HttpClient client = clients.get()) {
            HttpResponse<String> response = client.send(request.build(), HttpResponse.BodyHandlers.ofString());
            JsonNode body = JSON.readTree(response.body());
            if (response.statusCode() != expected) {
                throw new ConfigurationException("the health-service says " + response.statusCode() + ": "
                        + body.path("detail").asText());
            }
            return body;
        } catch (JsonProcessingException unexpected) {
            throw new IllegalStateException(server + " is no health-service: its answer is no JSON", unexpected);
        } catch (SSLHandshakeException refused) {
            throw new ConfigurationException("the certificate of " + server + " is not trusted (" + refused.getMessage()
                    + "): name its CA with --ca FILE (" + WHERE + ")");
        } catch (IOException failed) {
            throw new UncheckedIOException("the health-service at " + server + " does not answer", failed);
        }
    }
}
