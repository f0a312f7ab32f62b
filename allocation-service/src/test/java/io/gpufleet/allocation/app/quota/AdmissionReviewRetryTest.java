package io.gpufleet.allocation.app.quota;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** A review waits for the next quota leader, for less time than the API server does. */
class AdmissionReviewRetryTest {
    private static final byte[] REVIEW = "review".getBytes(UTF_8);
    private static final long RECEIVED = Long.MAX_VALUE - 5;

    private final AtomicLong nanos = new AtomicLong(RECEIVED);
    private final AtomicInteger asked = new AtomicInteger();
    /** Time passes in pauses only. */
    private final Executor afterPause = task -> {
        nanos.addAndGet(AdmissionReviewRetry.PAUSE.toNanos());
        task.run();
    };

    private CompletionStage<byte[]> handle(AdmissionReviewHandler handler) {
        AdmissionReviewHandler counted = (review, received) -> {
            assertThat(received).isEqualTo(RECEIVED);
            asked.incrementAndGet();
            return handler.handle(review, received);
        };
        return new AdmissionReviewRetry(counted, afterPause, nanos::get).handle(REVIEW, RECEIVED);
    }

    @Test
    void answerOfTheNextLeaderIsReturned() {
        CompletionStage<byte[]> answer = handle((review, received) -> asked.get() < 4
                ? CompletableFuture.failedStage(new AdmissionReviewHandler.UnavailableException("no leader"))
                : CompletableFuture.completedStage(review));

        assertThat(answer.toCompletableFuture().join()).isEqualTo(REVIEW);
        assertThat(asked).hasValue(4);
    }

    @Test
    void failureOfForwardIsAskedAgainToo() {
        CompletionStage<byte[]> answer = handle((review, received) -> asked.get() < 2
                ? CompletableFuture.supplyAsync(
                        () -> {
                            throw new AdmissionReviewHandler.UnavailableException("connection refused");
                        },
                        Runnable::run)
                : CompletableFuture.completedStage(review));

        assertThat(answer.toCompletableFuture().join()).isEqualTo(REVIEW);
    }

    @Test
    void reviewFailsBeforeTheApiServerGivesUp() {
        CompletionStage<byte[]> answer = handle((review, received) ->
                CompletableFuture.failedStage(new AdmissionReviewHandler.UnavailableException("no leader")));

        assertThatThrownBy(() -> answer.toCompletableFuture().join())
                .hasCauseInstanceOf(AdmissionReviewHandler.UnavailableException.class);
        // 2.3 s in steps of 100 ms
        assertThat(asked).hasValue(23);
    }

    @Test
    void badReviewIsNotAskedAgain() {
        CompletionStage<byte[]> answer =
                handle((review, received) -> CompletableFuture.failedStage(new IllegalArgumentException("no review")));

        assertThatThrownBy(() -> answer.toCompletableFuture().join())
                .hasCauseInstanceOf(IllegalArgumentException.class);
        assertThat(asked).hasValue(1);
    }
}
