package io.gpufleet.wire.json;

/** A message or text that only the complete implementation of proto3 JSON treats; without stack trace, as it is caught. */
final class UnsupportedJsonException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    UnsupportedJsonException() {
        super("not the common form of proto3 JSON", null, false, false);
    }
}
