package io.gpufleet.nodedaemon.nvml.binding;

/** What is needed of the C library; names are C's. */
public interface LibC {
    /** Ends the process at once: no exit handlers, no waiting for threads. */
    void _exit(int status);
}
