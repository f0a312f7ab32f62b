package io.gpufleet.proto.kubelet;

/** Bytes that messages may take while they are received; of all connections of a server together. Used by one thread. */
final class ReceiveBudget {
    private long left;

    ReceiveBudget(long bytes) {
        this.left = bytes;
    }

    /** Takes bytes; false, and takes none, where fewer are left. */
    boolean take(int bytes) {
        if (bytes > left) {
            return false;
        }
        left -= bytes;
        return true;
    }

    /** Gives bytes back. */
    void give(int bytes) {
        left += bytes;
    }
}
