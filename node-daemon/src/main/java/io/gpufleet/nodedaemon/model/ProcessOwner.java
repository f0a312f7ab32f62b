package io.gpufleet.nodedaemon.model;

/** Whose a process is, as the kernel tells it. */
public sealed interface ProcessOwner {
    /**
     * It runs in a container.
     *
     * @param uid of the pod, as the kubelet names the pod's cgroup
     */
    record Pod(String uid) implements ProcessOwner {}

    /** It runs on the node, outside of every pod. */
    record Host() implements ProcessOwner {}

    /** It is MPS's own and computes for those who hold shares, wherever it runs. */
    record Mps() implements ProcessOwner {}

    /** Nobody could tell, for a reason in one line. */
    record Unknown(String reason) implements ProcessOwner {}
}
