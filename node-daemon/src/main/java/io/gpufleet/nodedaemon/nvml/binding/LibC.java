package io.gpufleet.nodedaemon.nvml.binding;

import jnr.ffi.types.size_t;
import jnr.ffi.types.u_int64_t;

/** Functions of the C library under their own names. */
public interface LibC {
    /** Ends the process without exit handlers and without waiting for threads. */
    void _exit(int status);

    /** Makes a file of a kind: here a device node. */
    int mknod(String path, int mode, @u_int64_t long device);

    /** Sets the nice value; with {@code which} 0 and {@code who} 0 that of the calling thread alone (Linux). */
    int setpriority(int which, int who, int nice);

    /** Returns freed memory to the kernel, all but {@code kept} bytes at the end of the heap (glibc only). */
    int malloc_trim(@size_t long kept);
}
