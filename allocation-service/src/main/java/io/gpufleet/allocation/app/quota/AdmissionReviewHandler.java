package io.gpufleet.allocation.app.quota;

import java.util.concurrent.CompletionStage;

/** Answers an AdmissionReview; fails with {@link UnavailableException} when no replica can decide now. */
@FunctionalInterface
public interface AdmissionReviewHandler {
    /**
     * Takes an AdmissionReview, which the service received at a monotonic time of this process, and returns it with its
     * response, both as JSON.
     */
    CompletionStage<byte[]> handle(byte[] review, long receivedNanos);

    /** No replica can decide; the API server applies the failure policy. */
    final class UnavailableException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        /** With a message of one line. */
        public UnavailableException(String message) {
            super(message);
        }
    }
}
