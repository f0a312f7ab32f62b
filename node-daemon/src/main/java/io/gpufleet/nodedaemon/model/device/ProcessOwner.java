package io.gpufleet.nodedaemon.model.device;

/** Owner of a process, as the kernel's cgroups show it. */
public sealed interface ProcessOwner {
    /**
     * The process runs in a container.
     *
     * @param uid of the pod, as the kubelet names the pod's cgroup
     */
    record Pod(String uid) implements ProcessOwner {}

    /** The process runs on the node, outside of every pod. */
    record Host() implements ProcessOwner {}

    /** The process is the MPS server, which computes for its clients, wherever it runs. */
    record Mps() implements ProcessOwner {}

    /** The owner could not be determined, for a reason in one line. */
    record Unknown(String reason) implements ProcessOwner {}
}
