package io.gpufleet.wire.fold;

/** The fold can not go on without a person; the message is one line that says why. */
final class FoldStoppedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    FoldStoppedException(String line) {
        super(line);
    }
}
