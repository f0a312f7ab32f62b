package io.gpufleet.nodedaemon.model;

/** Something a device source noticed between two looks. */
public sealed interface Sign {
    /**
     * A fault.
     *
     * @param gpuUuid the GPU; empty when the whole node is concerned
     * @param migUuid the MIG instance where only one is concerned; else empty
     * @param fault what is wrong
     * @param source where it was seen
     * @param message one line for people
     */
    record FaultSeen(String gpuUuid, String migUuid, FaultCode fault, FaultOrigin source, String message)
            implements Sign {}

    /**
     * The cause of a fault is gone as far as this source can tell; the dwell still has to pass. A source says so for every
     * fault that it reported, with the same GPU and code; until then the fault stands.
     */
    record CauseGone(String gpuUuid, FaultCode fault, String proof) implements Sign {}

    /** The set of devices, MIG instances or the driver may have changed: look again. */
    record LookAgain(String reason) implements Sign {}

    /** The source can not go on in this process; the faults that it reported before stand. */
    record StartAnew(String reason) implements Sign {}
}
