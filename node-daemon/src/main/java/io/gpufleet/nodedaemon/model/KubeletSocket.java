package io.gpufleet.nodedaemon.model;

/** The kubelet's registration socket, as the directory shows it. */
public sealed interface KubeletSocket {
    /** There is none. */
    record Absent() implements KubeletSocket {}

    /**
     * There is one. Another identity is another kubelet process, or one that serves anew.
     *
     * @param device number of the file system
     * @param inode number of the file
     * @param changedMillis when the inode last changed, Unix milliseconds
     */
    record Present(long device, long inode, long changedMillis) implements KubeletSocket {}
}
