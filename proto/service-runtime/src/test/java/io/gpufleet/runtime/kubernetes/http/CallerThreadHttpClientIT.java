package io.gpufleet.runtime.kubernetes.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.gpufleet.kit.tls.CertificateAuthority;
import io.gpufleet.kit.tls.NewestCertificate;
import io.gpufleet.kit.tls.Pem;
import io.gpufleet.runtime.kubernetes.RetryAfter;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.security.KeyPair;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import org.apache.hc.core5.http.NoHttpResponseException;
import org.junit.jupiter.api.Test;

/** Writes on virtual threads, by the client of Kubernetes as the services have it. */
class CallerThreadHttpClientIT {
    private static final PatchContext JSON_PATCH = PatchContext.of(PatchType.JSON);
    private static final String PATCH = "[{\"op\":\"add\",\"path\":\"/data/a\",\"value\":\"b\"}]";
    private static final ConfigMap OBJECT = new ConfigMapBuilder()
            .withNewMetadata()
            .withNamespace("demo")
            .withName("one")
            .endMetadata()
            .build();
    private static final String ANSWER =
            "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"one\"},\"data\":{\"a\":\"b\"}}";

    private static KubernetesClient client(Config config, RetryAfter retryAfter) {
        return new KubernetesClientBuilder()
                .withConfig(config)
                .withHttpClientFactory(new CallerThreadHttpClientFactory())
                .withHttpClientBuilderConsumer(http -> http.addOrReplaceInterceptor("retry-after", retryAfter))
                .build();
    }

    private static KubernetesClient client(ScriptedApiServer server) {
        return client(config("http://127.0.0.1:" + server.port(), 5_000), new RetryAfter(System::nanoTime));
    }

    private static Config config(String url, int timeoutMillis) {
        return new ConfigBuilder(Config.empty())
                .withMasterUrl(url)
                .withOauthToken("token-of-the-pod")
                .withUserAgent("test-agent")
                .withRequestTimeout(timeoutMillis)
                .withConnectionTimeout(timeoutMillis)
                .withRequestRetryBackoffLimit(0)
                .build();
    }

    /** Calls on a virtual thread, as the services do. */
    private static <T> T virtually(Callable<T> call) throws Exception {
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            return threads.submit(call).get(30, TimeUnit.SECONDS);
        } catch (ExecutionException failed) {
            throw (Exception) failed.getCause();
        }
    }

    private static ConfigMap patch(KubernetesClient client) throws Exception {
        return virtually(() -> client.resource(OBJECT).patch(JSON_PATCH, PATCH));
    }

    private static KubernetesClientException refused(KubernetesClient client) throws Exception {
        try {
            patch(client);
        } catch (KubernetesClientException refused) {
            return refused;
        }
        throw new AssertionError("the patch was not refused");
    }

    @Test
    void writesFollowEachOtherOnOneConnection() throws Exception {
        try (var server = ScriptedApiServer.start(_ -> ScriptedApiServer.ok(ANSWER));
                KubernetesClient client = client(server)) {
            for (int i = 0; i < 5; i++) {
                assertThat(patch(client).getData()).containsEntry("a", "b");
            }

            assertThat(server.received()).hasSize(5).allSatisfy(request -> {
                assertThat(request.connection()).isOne();
                assertThat(request.line()).isEqualTo("PATCH /api/v1/namespaces/demo/configmaps/one HTTP/1.1");
                assertThat(request.headers())
                        .contains(
                                "host: 127.0.0.1:" + server.port(),
                                "content-type: application/json-patch+json",
                                "authorization: bearer token-of-the-pod",
                                "user-agent: test-agent")
                        // The client of the JDK offers HTTP/2 with its first request.
                        .noneMatch(header -> header.startsWith("upgrade:"));
                assertThat(request.body()).isEqualTo(PATCH);
            });
        }
    }

    @Test
    void connectionThatItsServerWillEndIsNotUsedAgain() throws Exception {
        try (var server = ScriptedApiServer.start(_ -> ScriptedApiServer.OK_AND_END);
                KubernetesClient client = client(server)) {
            for (int i = 0; i < 5; i++) {
                patch(client);
            }

            assertThat(server.received())
                    .extracting(ScriptedApiServer.Received::connection)
                    .containsExactly(1, 2, 3, 4, 5);
        }
    }

    @Test
    void connectionThatItsServerEndedWithoutAWordCostsOneWrite() throws Exception {
        try (var server = ScriptedApiServer.start(_ -> ScriptedApiServer.ok(ANSWER));
                KubernetesClient client = client(server)) {
            patch(client);
            server.endConnections();

            assertThat(refused(client)).hasCauseInstanceOf(IOException.class);
            assertThat(patch(client).getData()).containsEntry("a", "b");
            assertThat(server.received())
                    .extracting(ScriptedApiServer.Received::connection)
                    .containsExactly(1, 2);
        }
    }

    @Test
    void writeWithoutAnAnswerIsNotSentAgain() throws Exception {
        try (var server = ScriptedApiServer.start(_ -> "");
                KubernetesClient client = client(server)) {
            assertThat(refused(client)).hasRootCauseInstanceOf(NoHttpResponseException.class);
            assertThat(server.received()).hasSize(1);
        }
    }

    @Test
    void refusalHasItsCodeAndTellsHowLongToWait() throws Exception {
        var retryAfter = new RetryAfter(System::nanoTime);
        String status = "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"code\":429,\"message\":\"too many requests\"}";
        try (var server = ScriptedApiServer.start(_ -> "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\n"
                        + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
                        + Integer.toHexString(status.length()) + "\r\n" + status + "\r\n0\r\n\r\n");
                KubernetesClient client = client(config("http://127.0.0.1:" + server.port(), 5_000), retryAfter)) {
            KubernetesClientException refused = refused(client);

            assertThat(refused.getCode()).isEqualTo(429);
            assertThat(refused.getStatus().getMessage()).isEqualTo("too many requests");
            assertThat(retryAfter.remaining()).isPositive();
        }
    }

    @Test
    void serverThatDoesNotAnswerIsGivenUp() throws Exception {
        try (var server = ScriptedApiServer.start(_ -> ScriptedApiServer.NEVER);
                KubernetesClient client =
                        client(config("http://127.0.0.1:" + server.port(), 300), new RetryAfter(System::nanoTime))) {
            assertThat(refused(client)).hasRootCauseInstanceOf(SocketTimeoutException.class);
        }
    }

    @Test
    void callerThatIsInterruptedEnds() throws Exception {
        var asked = new CompletableFuture<Void>();
        try (var server = ScriptedApiServer.start(_ -> {
                    asked.complete(null);
                    return ScriptedApiServer.NEVER;
                });
                KubernetesClient client = client(server)) {
            Thread caller = Thread.ofVirtual().start(() -> {
                try {
                    client.resource(OBJECT).patch(JSON_PATCH, PATCH);
                } catch (RuntimeException ofNoMatter) {
                    // It ends.
                }
            });
            asked.get(10, TimeUnit.SECONDS);
            caller.interrupt();

            assertThat(caller.join(Duration.ofSeconds(4))).isTrue();
        }
    }

    @Test
    void platformThreadsAndReadsAreServedByTheClientOfTheJdk() throws Exception {
        try (var server = ScriptedApiServer.start(_ -> ScriptedApiServer.ok(ANSWER));
                KubernetesClient client = client(server)) {
            client.resource(OBJECT).patch(JSON_PATCH, PATCH);
            assertThat(server.received().getLast().headers()).anyMatch(header -> header.startsWith("upgrade:"));

            virtually(() ->
                    client.configMaps().inNamespace("demo").withName("one").get());
            assertThat(server.received().getLast().line()).startsWith("GET ");
            patch(client);
            assertThat(server.received().getLast().headers()).noneMatch(header -> header.startsWith("upgrade:"));
        }
    }

    @Test
    void tlsIsForTheServerThatTheCertificateNames() throws Exception {
        CertificateAuthority authority = CertificateAuthority.create(
                "test CA", new CertificateAuthority.Validity(Instant.now(), Duration.ofDays(1)));
        try (var server = tls(authority, "127.0.0.1", _ -> ScriptedApiServer.ok(ANSWER));
                KubernetesClient client = client(trusting(authority, server), new RetryAfter(System::nanoTime))) {
            for (int i = 0; i < 3; i++) {
                assertThat(patch(client).getData()).containsEntry("a", "b");
            }
            assertThat(server.received())
                    .extracting(ScriptedApiServer.Received::connection)
                    .containsOnly(1);
        }
        try (var server = tls(authority, "another-host", _ -> ScriptedApiServer.ok(ANSWER));
                KubernetesClient client = client(trusting(authority, server), new RetryAfter(System::nanoTime))) {
            assertThat(refused(client)).hasStackTraceContaining("127.0.0.1");
            assertThat(server.received()).isEmpty();
        }
    }

    @Test
    void certificateOfAnotherAuthorityIsRefused() throws Exception {
        var validity = new CertificateAuthority.Validity(Instant.now(), Duration.ofDays(1));
        CertificateAuthority trusted = CertificateAuthority.create("test CA", validity);
        CertificateAuthority other = CertificateAuthority.create("other CA", validity);
        try (var server = tls(other, "127.0.0.1", _ -> ScriptedApiServer.ok(ANSWER));
                KubernetesClient client = client(trusting(trusted, server), new RetryAfter(System::nanoTime))) {
            assertThat(refused(client)).hasRootCauseInstanceOf(java.security.cert.CertPathBuilderException.class);
            assertThat(server.received()).isEmpty();
        }
    }

    private static Config trusting(CertificateAuthority authority, ScriptedApiServer server) throws Exception {
        String pem = Pem.text(authority.certificate());
        return new ConfigBuilder(config("https://127.0.0.1:" + server.port(), 5_000))
                .withCaCertData(Base64.getEncoder().encodeToString(pem.getBytes(StandardCharsets.US_ASCII)))
                .build();
    }

    private static ScriptedApiServer tls(
            CertificateAuthority authority,
            String host,
            java.util.function.Function<ScriptedApiServer.Received, String> script)
            throws Exception {
        KeyPair keys = CertificateAuthority.newKeys();
        var certificate = new NewestCertificate();
        certificate.replace(
                authority.issue(
                        "api",
                        Set.of(host),
                        Set.of(CertificateAuthority.Purpose.SERVER),
                        keys.getPublic(),
                        new CertificateAuthority.Validity(Instant.now(), Duration.ofDays(1))),
                keys.getPrivate());
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(new KeyManager[] {certificate}, null, null);
        ServerSocket socket =
                context.getServerSocketFactory().createServerSocket(0, 50, InetAddress.getLoopbackAddress());
        return ScriptedApiServer.start(socket, script);
    }
}
