package io.gpufleet.testbed.fakeapiserver.admission;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.testbed.fakeapiserver.object.ApiError;
import io.gpufleet.testbed.fakeapiserver.object.Json;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.Base64;
import java.util.concurrent.ConcurrentHashMap;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Calls one webhook over HTTPS and trusts its {@code caBundle} only. */
final class WebhookClient implements AutoCloseable {
    private final ConcurrentHashMap<String, HttpClient> clients = new ConcurrentHashMap<>();

    /** The webhook could not be called, or did not answer with a review. */
    static final class WebhookCallException extends Exception {
        private static final long serialVersionUID = 1L;

        WebhookCallException(String why) {
            super(why);
        }
    }

    /** The {@code response} of the review. */
    JsonNode call(Webhook hook, ObjectNode review) throws WebhookCallException {
        JsonNode config = hook.spec().path("clientConfig");
        String url = Json.text(config, "url");
        if (url.isEmpty()) {
            throw new WebhookCallException(
                    "the fake API server has no Services to route to; register the webhook with" + " clientConfig.url");
        }
        String address = url + (url.contains("?") ? "&" : "?") + "timeout=" + hook.timeoutSeconds() + "s";
        try {
            HttpClient client = clients.computeIfAbsent(Json.text(config, "caBundle"), WebhookClient::client);
            HttpRequest request = HttpRequest.newBuilder(URI.create(address))
                    .timeout(Duration.ofSeconds(hook.timeoutSeconds()))
                    .header("Content-Type", "application/json")
                    .header("Accept", "application/json")
                    .POST(HttpRequest.BodyPublishers.ofByteArray(Json.bytes(review)))
                    .build();
            HttpResponse<byte[]> answer = client.send(request, HttpResponse.BodyHandlers.ofByteArray());
            return response(answer, Json.text(review, "request", "uid"));
        } catch (IOException | IllegalArgumentException failed) {
            String why = failed.getMessage() == null ? failed.getClass().getSimpleName() : failed.getMessage();
            throw new WebhookCallException("Post \"" + address + "\": " + why);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new WebhookCallException("Post \"" + address + "\": context canceled");
        }
    }

    private static JsonNode response(HttpResponse<byte[]> answer, String uid) throws WebhookCallException {
        if (answer.statusCode() != 200) {
            throw new WebhookCallException("the server answered HTTP " + answer.statusCode());
        }
        JsonNode response;
        try {
            response = Json.object(answer.body()).path("response");
        } catch (ApiError notJson) {
            throw new WebhookCallException("the response is no AdmissionReview: " + notJson.getMessage());
        }
        if (response.isMissingNode()) {
            throw new WebhookCallException("webhook response was absent");
        }
        if (!Json.text(response, "uid").equals(uid)) {
            throw new WebhookCallException(
                    "expected response.uid=\"" + uid + "\", got \"" + Json.text(response, "uid") + "\"");
        }
        return response;
    }

    private static HttpClient client(String caBundle) {
        HttpClient.Builder builder = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1);
        if (!caBundle.isEmpty()) {
            builder.sslContext(trustOnly(Base64.getMimeDecoder().decode(caBundle)));
        }
        return builder.build();
    }

    private static SSLContext trustOnly(byte[] pem) {
        try {
            KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
            store.load(null, null);
            int number = 0;
            for (Certificate ca :
                    CertificateFactory.getInstance("X.509").generateCertificates(new ByteArrayInputStream(pem))) {
                store.setCertificateEntry("ca-" + number++, ca);
            }
            TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(store);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, trust.getTrustManagers(), null);
            return context;
        } catch (GeneralSecurityException | IOException unusable) {
            throw new IllegalArgumentException("caBundle is not usable: " + unusable.getMessage(), unusable);
        }
    }

    @Override
    public void close() {
        clients.values().forEach(HttpClient::shutdownNow);
    }
}
