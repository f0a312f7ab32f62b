package io.gpufleet.allocation.app;

import java.util.concurrent.CompletionStage;

/** Answers an AdmissionReview as it came; fails with {@link UnavailableException} when nobody can decide now. */
@FunctionalInterface
public interface ReviewDoor {
    /** The AdmissionReview with its response, JSON. */
    CompletionStage<byte[]> answer(byte[] review);

    /** Nobody can decide; whoever asked applies the failure policy. */
    final class UnavailableException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        /** With one line for people. */
        public UnavailableException(String line) {
            super(line);
        }
    }
}
