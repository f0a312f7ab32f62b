package io.gpufleet.allocation.app;

/** The API server did not answer, or rejected the request; the message is one line. */
public final class ApiServerException extends Exception {
    private static final long serialVersionUID = 1L;

    /** With a message. */
    public ApiServerException(String message) {
        super(message);
    }

    /** With a message and the cause. */
    public ApiServerException(String message, Throwable cause) {
        super(message, cause);
    }
}
