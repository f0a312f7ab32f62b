package io.gpufleet.health.model.device;

/** Health that the known facts of a device ask for; {@link Transitions} gets there by legal transitions. */
public sealed interface DesiredDeviceHealth {
    /** No open fault. */
    record Healthy() implements DesiredDeviceHealth {}

    /** Open faults, none of which withdraws it. */
    record Suspect(Cause cause) implements DesiredDeviceHealth {}

    /** A fault that withdraws it. */
    record Unhealthy(Cause cause) implements DesiredDeviceHealth {}

    /** It does not answer. */
    record Lost() implements DesiredDeviceHealth {}
}
