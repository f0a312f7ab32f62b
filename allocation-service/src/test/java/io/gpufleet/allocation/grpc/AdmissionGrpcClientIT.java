package io.gpufleet.allocation.grpc;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.gpufleet.allocation.app.CertificateStore;
import io.gpufleet.allocation.app.ServingCertificate;
import io.gpufleet.allocation.app.ServingCertificate.ReplicaCertificate;
import io.gpufleet.allocation.app.quota.AdmissionReviewHandler;
import io.gpufleet.allocation.app.quota.ForwardingReviewHandler;
import io.gpufleet.allocation.webhook.CertificateIssuer;
import io.gpufleet.kit.web.BoundHttpServer;
import io.gpufleet.proto.allocation.v1.AdmissionServiceGrpcClient;
import io.gpufleet.proto.allocation.v1.AdmitRequest;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.SocketAddress;
import io.vertx.grpc.client.GrpcClient;
import io.vertx.grpc.common.GrpcError;
import io.vertx.grpc.server.GrpcServer;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A standby forwards a review to the quota leader, which answers replicas only. */
class AdmissionGrpcClientIT {
    /** A Secret in memory. */
    private static final class Secret implements CertificateStore {
        private Optional<StoredCertificate> stored = Optional.empty();

        @Override
        public Optional<StoredCertificate> load() {
            return stored;
        }

        @Override
        public boolean save(Map<String, String> files, String resourceVersion) {
            stored = Optional.of(new StoredCertificate(Map.copyOf(files), "1"));
            return true;
        }
    }

    private final Secret secret = new Secret();
    private final List<String> decided = new CopyOnWriteArrayList<>();
    private final List<Duration> waited = new CopyOnWriteArrayList<>();
    private final AtomicBoolean leading = new AtomicBoolean(true);
    private Vertx vertx;
    private AdmissionGrpcServer server;
    private AdmissionGrpcClient client;
    private ForwardingReviewHandler standby;

    @BeforeEach
    void open() throws Exception {
        vertx = Vertx.vertx();
        AdmissionReviewHandler active = (review, receivedNanos) -> {
            waited.add(Duration.ofNanos(System.nanoTime() - receivedNanos));
            decided.add(new String(review, UTF_8));
            return CompletableFuture.completedStage(("decided " + new String(review, UTF_8)).getBytes(UTF_8));
        };
        server = AdmissionGrpcServer.open(
                vertx,
                new AdmissionGrpcServer.Decisions(active, leading::get),
                tls(issued(secret, "127.0.0.1")),
                "127.0.0.1",
                0);
        client = new AdmissionGrpcClient(vertx, tls(issued(secret, "10.0.0.7")));
        AdmissionReviewHandler never = (review, receivedNanos) ->
                CompletableFuture.failedStage(new AssertionError("a standby does not decide"));
        standby = new ForwardingReviewHandler(never, () -> false, () -> "127.0.0.1:" + server.port(), client::forward);
    }

    private static ServingCertificate issued(CertificateStore store, String host) throws Exception {
        return new CertificateIssuer(store, Set.of("allocation-service.svc"), host, Clock.systemUTC())
                .obtain()
                .orElseThrow();
    }

    private static ReplicaTls tls(ServingCertificate certificate) {
        var tls = new ReplicaTls(Clock.systemUTC());
        tls.replace(certificate);
        return tls;
    }

    @AfterEach
    void close() throws Exception {
        client.close();
        server.close();
        vertx.close().toCompletionStage().toCompletableFuture().join();
    }

    @Test
    void standbyReturnsAnswerOfLeader() {
        byte[] answer = standby.handle("review".getBytes(UTF_8), System.nanoTime())
                .toCompletableFuture()
                .join();
        assertThat(new String(answer, UTF_8)).isEqualTo("decided review");
    }

    /** The webhook takes 4 MiB, and Vert.x 256 KiB by itself. */
    @Test
    void largestReviewThatTheWebhookTakesReachesTheLeader() {
        byte[] review = "x".repeat(4 * 1024 * 1024).getBytes(UTF_8);

        // On a loaded machine 4 MiB take longer than the client waits.
        await().atMost(Duration.ofMinutes(3))
                .ignoreExceptionsInstanceOf(CompletionException.class)
                .until(
                        () -> standby.handle(review, System.nanoTime())
                                .toCompletableFuture()
                                .join(),
                        answer -> answer.length > review.length);

        assertThat(decided).isNotEmpty();
    }

    @Test
    void reviewThatNobodyWaitsForAnyMoreIsTakenBack() throws Exception {
        // Given a leader that does not answer
        var takenBack = new CompletableFuture<GrpcError>();
        GrpcServer silent = GrpcServer.server(vertx).callHandler(request -> request.errorHandler(takenBack::complete));
        try (var leader = BoundHttpServer.open(
                vertx, tls(issued(secret, "127.0.0.1")).server(), silent, "127.0.0.1", 0, "GPUFLEET_GRPC_PORT")) {
            // When
            assertThatThrownBy(() -> client.forward(
                                    "127.0.0.1:" + leader.port(), "review".getBytes(UTF_8), System.nanoTime())
                            .toCompletableFuture()
                            .join())
                    .hasMessageContaining("did not answer");

            // Then
            assertThat(takenBack.get(10, TimeUnit.SECONDS)).isEqualTo(GrpcError.CANCELLED);
        }
    }

    @Test
    void ageOfAReviewCountsFromItsReceiptByTheStandby() {
        Duration age = Duration.ofSeconds(5);
        standby.handle("review".getBytes(UTF_8), System.nanoTime() - age.toNanos())
                .toCompletableFuture()
                .join();
        assertThat(waited).singleElement().satisfies(seen -> assertThat(seen).isGreaterThanOrEqualTo(age));
    }

    @Test
    void replicaOfAnotherAuthorityIsNotAnswered() throws Exception {
        refused(tls(issued(new Secret(), "10.0.0.7")));
    }

    @Test
    void certificateOfTheWebhookIsNotThatOfAReplica() throws Exception {
        ServingCertificate webhook = issued(secret, "10.0.0.7");
        refused(tls(new ServingCertificate(
                webhook.caPem(),
                webhook.certificatePem(),
                webhook.keyPem(),
                webhook.proofKey(),
                new ReplicaCertificate(webhook.certificatePem(), webhook.keyPem()))));
    }

    @Test
    void replicaWithoutACertificateIsNotAnswered() {
        refused(new ReplicaTls(Clock.systemUTC()));
    }

    @Test
    void leaderIsBelievedOnlyAtItsOwnAddress() throws Exception {
        try (var elsewhere = AdmissionGrpcServer.open(
                vertx,
                new AdmissionGrpcServer.Decisions(
                        (_, _) -> CompletableFuture.failedStage(new AssertionError("it gets no review")), () -> true),
                tls(issued(secret, "10.0.0.8")),
                "127.0.0.1",
                0)) {
            assertThatThrownBy(() -> client.forward(
                                    "127.0.0.1:" + elsewhere.port(), "review".getBytes(UTF_8), System.nanoTime())
                            .toCompletableFuture()
                            .join())
                    .hasMessageContaining("did not answer");
        }
    }

    private void refused(ReplicaTls stranger) {
        try (var caller = new AdmissionGrpcClient(vertx, stranger)) {
            assertThatThrownBy(() -> caller.forward(
                                    "127.0.0.1:" + server.port(), "review".getBytes(UTF_8), System.nanoTime())
                            .toCompletableFuture()
                            .join())
                    .hasMessageContaining("did not answer");
        }
        assertThat(decided).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void callerWithoutACertificateIsNotAnswered(boolean encrypted) {
        var options = new HttpClientOptions().setProtocolVersion(HttpVersion.HTTP_2);
        if (encrypted) {
            options.setSsl(true).setUseAlpn(true).setTrustAll(true).setVerifyHost(false);
        }
        GrpcClient stranger = GrpcClient.client(vertx, options);
        assertThatThrownBy(() -> AdmissionServiceGrpcClient.create(
                                stranger, SocketAddress.inetSocketAddress(server.port(), "127.0.0.1"))
                        .admit(AdmitRequest.getDefaultInstance())
                        .toCompletionStage()
                        .toCompletableFuture()
                        .get(10, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class);
        assertThat(decided).isEmpty();
        stranger.close();
    }

    @Test
    void reviewFailsAtReplicaThatIsNotLeader() {
        leading.set(false);
        assertThatThrownBy(() -> standby.handle("review".getBytes(UTF_8), System.nanoTime())
                        .toCompletableFuture()
                        .join())
                .hasCauseInstanceOf(AdmissionReviewHandler.UnavailableException.class)
                .hasMessageContaining("the quota leader at 127.0.0.1:");
    }

    @Test
    void reviewFailsWithoutLeader() {
        var lonely = new ForwardingReviewHandler(
                (review, receivedNanos) -> CompletableFuture.failedStage(new AssertionError()),
                () -> false,
                () -> "",
                client::forward);
        assertThatThrownBy(() -> lonely.handle(new byte[0], System.nanoTime())
                        .toCompletableFuture()
                        .join())
                .hasMessageContaining("allocation-service has no quota leader now");
    }
}
