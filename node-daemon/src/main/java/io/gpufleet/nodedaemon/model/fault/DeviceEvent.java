package io.gpufleet.nodedaemon.model.fault;

/** An event that a device source reports between two scans. */
public sealed interface DeviceEvent {
    /**
     * A fault was detected.
     *
     * @param gpuUuid the GPU; empty when the whole node is concerned
     * @param migUuid the MIG instance where only one is concerned; else empty
     * @param fault its code
     * @param origin the source that reported it
     * @param message one line for people
     */
    record FaultDetected(String gpuUuid, String migUuid, FaultCode fault, FaultOrigin origin, String message)
            implements DeviceEvent {}

    /**
     * The cause of a fault is resolved as far as this source can tell; the dwell still has to pass. A source reports this for
     * every fault that it monitors, with the same GPU and code; until then the fault stays open.
     */
    record CauseResolved(String gpuUuid, FaultCode fault, String proof) implements DeviceEvent {}

    /** The set of devices, MIG instances or the driver may have changed: scan again. */
    record RescanRequested(String reason) implements DeviceEvent {}

    /** The readings of a GPU may have changed: poll. */
    record PollRequested(String reason) implements DeviceEvent {}

    /** The source cannot continue in this process; the faults that it reported stay open. */
    record RestartRequested(String reason) implements DeviceEvent {}
}
