package io.gpufleet.runtime.engine;

/** A topic is missing or the broker cannot say; waited for. The message is one line for people. */
final class TopicsUnavailableException extends RuntimeException {
    private static final long serialVersionUID = 1;

    TopicsUnavailableException(String message) {
        super(message);
    }
}
