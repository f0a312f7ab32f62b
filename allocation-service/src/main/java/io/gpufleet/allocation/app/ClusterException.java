package io.gpufleet.allocation.app;

/** Kubernetes did not answer, or refused; the message is one line for people. */
public final class ClusterException extends Exception {
    private static final long serialVersionUID = 1L;

    /** With what came of it. */
    public ClusterException(String line) {
        super(line);
    }

    /** With what was tried and what came back. */
    public ClusterException(String line, Throwable cause) {
        super(line, cause);
    }
}
