package io.gpufleet.cli.cluster;

import io.fabric8.kubernetes.api.model.admissionregistration.v1.WebhookClientConfig;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpufleet.kit.tls.TrustedAuthorities;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.Base64;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import javax.net.ssl.SSLContext;

/** Calls the webhook as an API server does: by the URL and the CA of its configuration, over connections that stay open. */
public final class WebhookClient implements AutoCloseable {
    /** As the configuration of the webhook says. */
    private static final Duration TIMEOUT = Duration.ofSeconds(3);

    private final URI url;
    private final HttpClient http;

    private WebhookClient(URI url, HttpClient http) {
        this.url = url;
        this.http = http;
    }

    private static Optional<WebhookClientConfig> registered(KubernetesClient client) {
        var configuration = client.admissionRegistration()
                .v1()
                .validatingWebhookConfigurations()
                .withName("gpufleet-quota")
                .get();
        return configuration == null || configuration.getWebhooks().isEmpty()
                ? Optional.empty()
                : Optional.of(configuration.getWebhooks().getFirst().getClientConfig());
    }

    /** True once the quota leader has registered the webhook, up to 2 s after it leads. */
    public static boolean isRegistered(KubernetesClient client) {
        return registered(client).isPresent();
    }

    /** A client by the present configuration of the webhook. */
    public static WebhookClient of(KubernetesClient client) {
        var webhook =
                registered(client).orElseThrow(() -> new IllegalStateException("the webhook is not registered yet"));
        return new WebhookClient(
                URI.create(webhook.getUrl()),
                HttpClient.newBuilder()
                        .sslContext(trusting(Base64.getDecoder().decode(webhook.getCaBundle())))
                        .connectTimeout(TIMEOUT)
                        .build());
    }

    private static SSLContext trusting(byte[] caBundle) {
        try {
            return TrustedAuthorities.tls(new String(caBundle, StandardCharsets.US_ASCII));
        } catch (GeneralSecurityException unusable) {
            throw new IllegalStateException("the CA of the webhook cannot be read", unusable);
        }
    }

    /** Completes with whether the pod of the review is admitted; exceptionally where nobody decides. */
    public CompletableFuture<Boolean> review(String review) {
        var request = HttpRequest.newBuilder(url)
                .timeout(TIMEOUT)
                .header("content-type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(review))
                .build();
        return http.sendAsync(request, HttpResponse.BodyHandlers.ofString()).thenApply(answer -> {
            if (answer.statusCode() != 200) {
                throw new IllegalStateException("webhook answers " + answer.statusCode() + ": " + answer.body());
            }
            return answer.body().contains("\"allowed\":true");
        });
    }

    @Override
    public void close() {
        http.shutdownNow();
        http.close();
    }
}
