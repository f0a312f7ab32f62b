package io.gpufleet.health.model.device;

/** Health that the known facts of a device ask for; {@link Transitions} gets there by legal transitions. */
public sealed interface TargetHealth {
    /** No open fault. */
    record Healthy() implements TargetHealth {}

    /** Open faults, none of which withdraws it. */
    record Suspect(Cause cause) implements TargetHealth {}

    /** A fault that withdraws it. */
    record Unhealthy(Cause cause) implements TargetHealth {}

    /** It does not answer. */
    record Lost() implements TargetHealth {}
}
