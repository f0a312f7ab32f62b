package io.gpufleet.runtime.engine;

/** A projection cannot go on in this process; the message is one line for people. */
final class ProjectionStoppedException extends RuntimeException {
    private static final long serialVersionUID = 1;

    ProjectionStoppedException(String message) {
        super(message);
    }
}
