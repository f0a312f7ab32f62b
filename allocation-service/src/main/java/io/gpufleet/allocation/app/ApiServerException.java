package io.gpufleet.allocation.app;

/** The API server did not answer, or rejected the request; the message is one line. */
public final class ApiServerException extends Exception {
    private static final long serialVersionUID = 1L;

    private final boolean rejected;

    /** With a message. */
    public ApiServerException(String message) {
        super(message);
        this.rejected = false;
    }

    /** With a message and the cause. */
    public ApiServerException(String message, Throwable cause) {
        this(message, cause, false);
    }

    /** With a message and the cause; {@code rejected} where the server refuses this object and not the caller's timing. */
    public ApiServerException(String message, Throwable cause, boolean rejected) {
        super(message, cause);
        this.rejected = rejected;
    }

    /** True when the same request will be refused again. */
    public boolean rejected() {
        return rejected;
    }
}
