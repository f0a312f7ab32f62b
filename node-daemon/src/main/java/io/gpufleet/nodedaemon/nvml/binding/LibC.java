package io.gpufleet.nodedaemon.nvml.binding;

import jnr.ffi.types.u_int64_t;

/** Functions of the C library under their own names. */
public interface LibC {
    /** Ends the process without exit handlers and without waiting for threads. */
    void _exit(int status);

    /** Makes a file of a kind: here a device node. */
    int mknod(String path, int mode, @u_int64_t long device);
}
