package io.gpufleet.nodedaemon.model.device;

/**
 * A process with a compute context on a device.
 *
 * @param pid in the node's own PID namespace
 * @param deviceUuid of the GPU or of the MIG instance; empty for an instance that the last scan did not find
 * @param usedBytes device memory that it uses
 * @param owner the pod or host service that it belongs to
 */
public record ComputeProcess(int pid, String deviceUuid, Reading<Long> usedBytes, ProcessOwner owner) {
    /** The owner before it is looked up. */
    public static final ProcessOwner NOT_ASKED = new ProcessOwner.Unknown("not read");

    /** Returns the same process with its owner. */
    public ComputeProcess withOwner(ProcessOwner itsOwner) {
        return new ComputeProcess(pid, deviceUuid, usedBytes, itsOwner);
    }
}
