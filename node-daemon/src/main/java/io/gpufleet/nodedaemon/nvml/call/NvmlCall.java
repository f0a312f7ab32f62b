package io.gpufleet.nodedaemon.nvml.call;

/** Work that calls NVML. */
public interface NvmlCall<T> {
    /** Calls NVML and returns the result. */
    T run() throws NvmlFailure;
}
