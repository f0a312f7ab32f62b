package io.gpufleet.nodedaemon.model;

/**
 * A process that computes on a device now.
 *
 * @param pid in the node's own PID namespace
 * @param deviceUuid of the GPU or of the MIG instance; empty for an instance that the last look did not know
 * @param usedBytes memory of the device that it has
 * @param owner whose it is
 */
public record ComputeProcess(int pid, String deviceUuid, Reading<Long> usedBytes, ProcessOwner owner) {
    /** Whose it is, before somebody asked the kernel. */
    public static final ProcessOwner NOT_ASKED = new ProcessOwner.Unknown("not asked");

    /** The same process, now that somebody asked. */
    public ComputeProcess of(ProcessOwner whose) {
        return new ComputeProcess(pid, deviceUuid, usedBytes, whose);
    }
}
