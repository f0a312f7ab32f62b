package io.gpufleet.allocation.grpc;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.allocation.app.AdmissionProof;
import io.gpufleet.allocation.app.quota.AdmissionReviewHandler;
import io.gpufleet.allocation.app.quota.ForwardingReviewHandler;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A standby forwards a review to the quota leader. */
class AdmissionGrpcClientIT {
    private final List<String> decided = new CopyOnWriteArrayList<>();
    private final List<Duration> waited = new CopyOnWriteArrayList<>();
    private final AtomicBoolean leading = new AtomicBoolean(true);
    private Vertx vertx;
    private AdmissionGrpcServer server;
    private AdmissionGrpcClient client;
    private ForwardingReviewHandler standby;

    @BeforeEach
    void open() {
        vertx = Vertx.vertx();
        AdmissionReviewHandler active = (review, receivedNanos) -> {
            waited.add(Duration.ofNanos(System.nanoTime() - receivedNanos));
            decided.add(new String(review, UTF_8));
            return CompletableFuture.completedStage(("decided " + new String(review, UTF_8)).getBytes(UTF_8));
        };
        server = AdmissionGrpcServer.open(
                vertx, active, new AdmissionGrpcServer.Leadership(leading::get, proof("key")), "127.0.0.1", 0);
        client = new AdmissionGrpcClient(vertx, proof("key"));
        AdmissionReviewHandler never = (review, receivedNanos) ->
                CompletableFuture.failedStage(new AssertionError("a standby does not decide"));
        standby = new ForwardingReviewHandler(never, () -> false, () -> "127.0.0.1:" + server.port(), client::forward);
    }

    private static AdmissionProof proof(String key) {
        var proof = new AdmissionProof(Clock.systemUTC());
        proof.replace(key);
        return proof;
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

    @Test
    void ageOfAReviewCountsFromItsReceiptByTheStandby() {
        Duration age = Duration.ofSeconds(5);
        standby.handle("review".getBytes(UTF_8), System.nanoTime() - age.toNanos())
                .toCompletableFuture()
                .join();
        assertThat(waited).singleElement().satisfies(seen -> assertThat(seen).isGreaterThanOrEqualTo(age));
    }

    @Test
    void reviewThatNoReplicaSignedIsNotDecided() {
        try (var stranger = new AdmissionGrpcClient(vertx, proof("other"))) {
            assertThatThrownBy(() -> stranger.forward(
                                    "127.0.0.1:" + server.port(), "review".getBytes(UTF_8), System.nanoTime())
                            .toCompletableFuture()
                            .join())
                    .hasMessageContaining("did not answer");
        }
        assertThat(decided).isEmpty();
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
