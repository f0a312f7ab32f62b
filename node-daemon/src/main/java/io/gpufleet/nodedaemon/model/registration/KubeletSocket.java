package io.gpufleet.nodedaemon.model.registration;

/** The kubelet's registration socket, as found in its directory. */
public sealed interface KubeletSocket {
    /** No socket. */
    record Absent() implements KubeletSocket {}

    /**
     * A socket. Another identity is another kubelet process, or one that recreated its socket.
     *
     * @param device number of the file system
     * @param inode number of the file
     * @param changedMillis when the inode last changed, Unix milliseconds
     */
    record Present(long device, long inode, long changedMillis) implements KubeletSocket {}
}
