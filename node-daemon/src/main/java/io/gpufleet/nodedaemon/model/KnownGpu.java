package io.gpufleet.nodedaemon.model;

/**
 * A GPU of this node, whether it answers or not.
 *
 * @param gpu its identity as last read
 * @param presence whether it answers
 */
public record KnownGpu(Gpu gpu, Presence presence) {
    /** Whether a known GPU answers. */
    public sealed interface Presence {
        /** It was among the GPUs of the last look. */
        record Answering() implements Presence {}

        /** It was not. Its place may still be there ({@code lost}), or even that is gone. */
        record Missing(long sinceNanos, String reason, boolean placeIsThere) implements Presence {}
    }

    /** Whether it was among the GPUs of the last look. */
    public boolean answers() {
        return presence instanceof Presence.Answering;
    }
}
