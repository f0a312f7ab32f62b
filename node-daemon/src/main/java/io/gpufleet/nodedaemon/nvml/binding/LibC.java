package io.gpufleet.nodedaemon.nvml.binding;

/** Functions of the C library under their own names. */
public interface LibC {
    /** Ends the process without exit handlers and without waiting for threads. */
    void _exit(int status);
}
