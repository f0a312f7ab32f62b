package io.gpufleet.wire.projection;

/** The engine cannot continue without an operator; the message is one line with the reason. */
final class ProjectionStoppedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    ProjectionStoppedException(String message) {
        super(message);
    }
}
