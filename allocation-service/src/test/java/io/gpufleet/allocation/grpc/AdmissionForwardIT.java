package io.gpufleet.allocation.grpc;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.allocation.app.ReviewDoor;
import io.gpufleet.allocation.app.ReviewRouter;
import io.vertx.core.Vertx;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A standby hands a review to the replica that decides. */
class AdmissionForwardIT {
    private final AtomicBoolean decides = new AtomicBoolean(true);
    private Vertx vertx;
    private AdmissionDoor door;
    private AdmissionForward forward;
    private ReviewRouter standby;

    @BeforeEach
    void open() {
        vertx = Vertx.vertx();
        ReviewDoor active =
                review -> CompletableFuture.completedStage(("decided " + new String(review, UTF_8)).getBytes(UTF_8));
        door = AdmissionDoor.open(vertx, active, decides::get, "127.0.0.1", 0);
        forward = new AdmissionForward(vertx);
        ReviewDoor never = review -> CompletableFuture.failedStage(new AssertionError("a standby decides nothing"));
        standby = new ReviewRouter(never, () -> false, () -> "127.0.0.1:" + door.port(), forward::forward);
    }

    @AfterEach
    void close() throws Exception {
        forward.close();
        door.close();
        vertx.close().toCompletionStage().toCompletableFuture().join();
    }

    @Test
    void theAnswerOfTheDecidingReplicaComesBack() {
        byte[] answer =
                standby.answer("review".getBytes(UTF_8)).toCompletableFuture().join();
        assertThat(new String(answer, UTF_8)).isEqualTo("decided review");
    }

    @Test
    void aReplicaThatDoesNotDecideIsNoAnswer() {
        decides.set(false);
        assertThatThrownBy(() -> standby.answer("review".getBytes(UTF_8))
                        .toCompletableFuture()
                        .join())
                .hasCauseInstanceOf(ReviewDoor.UnavailableException.class)
                .hasMessageContaining("the deciding replica at 127.0.0.1:");
    }

    @Test
    void withoutAnActiveReplicaThereIsNoAnswer() {
        var lonely = new ReviewRouter(
                review -> CompletableFuture.failedStage(new AssertionError()), () -> false, () -> "", forward::forward);
        assertThatThrownBy(
                        () -> lonely.answer(new byte[0]).toCompletableFuture().join())
                .hasMessageContaining("no replica of allocation-service decides now");
    }
}
