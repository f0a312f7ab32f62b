package io.gpufleet.health.model;

/** Where everything that is known of a device points; the state follows by legal transitions. */
public sealed interface Aim {
    /** Nothing speaks against it. */
    record Well() implements Aim {}

    /** Something speaks against it, not enough to act on. */
    record Doubt(Cause cause) implements Aim {}

    /** It must not be handed out. */
    record Out(Cause cause) implements Aim {}

    /** It does not answer. */
    record Gone() implements Aim {}
}
