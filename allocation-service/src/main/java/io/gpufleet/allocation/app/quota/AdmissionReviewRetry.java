package io.gpufleet.allocation.app.quota;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * Asks again while no replica can decide: a leader that ends hands over within a second, and the API server does not ask
 * again itself. A review that is repeated reserves nothing twice, as its GPUs are reserved under its UID.
 */
public final class AdmissionReviewRetry implements AdmissionReviewHandler {
    /** From the receipt to the last question; the API server waits for 3 s. */
    static final Duration DEADLINE = Duration.ofMillis(2_300);

    /** Between two questions. */
    public static final Duration PAUSE = Duration.ofMillis(100);

    private final AdmissionReviewHandler handler;
    private final Executor afterPause;
    private final LongSupplier nanos;

    /**
     * Asks {@code handler}.
     *
     * @param afterPause runs a task after {@link #PAUSE}
     * @param nanos monotonic time
     */
    public AdmissionReviewRetry(AdmissionReviewHandler handler, Executor afterPause, LongSupplier nanos) {
        this.handler = handler;
        this.afterPause = afterPause;
        this.nanos = nanos;
    }

    @Override
    public CompletionStage<byte[]> handle(byte[] review, long receivedNanos) {
        long lastNanos = receivedNanos + DEADLINE.minus(PAUSE).toNanos();
        return handler.handle(review, receivedNanos)
                .handle((answer, failure) -> {
                    if (failure == null) {
                        return CompletableFuture.completedStage(answer);
                    }
                    return isUnavailable(failure) && nanos.getAsLong() - lastNanos < 0
                            ? askAfterPause(review, receivedNanos)
                            : CompletableFuture.<byte[]>failedStage(failure);
                })
                .thenCompose(Function.identity());
    }

    private CompletionStage<byte[]> askAfterPause(byte[] review, long receivedNanos) {
        return CompletableFuture.supplyAsync(() -> handle(review, receivedNanos), afterPause)
                .thenCompose(Function.identity());
    }

    private static boolean isUnavailable(Throwable failure) {
        Throwable cause = failure.getCause();
        return failure instanceof UnavailableException
                || failure instanceof CompletionException && cause instanceof UnavailableException;
    }
}
