package io.gpufleet.nodedaemon.nvml;

import io.gpufleet.nodedaemon.nvml.binding.NvmlLibrary;
import io.gpufleet.nodedaemon.nvml.call.Nvml;
import io.gpufleet.nodedaemon.nvml.call.NvmlFailure;

/**
 * An initialised NVML and its system events. They are registered before GPUs are listed: a GPU that is bound in between is in
 * the list, or its event is in the set.
 */
record InitialisedNvml(Nvml nvml, NvmlSystemEventSet systemEvents) {
    static InitialisedNvml open(NvmlLibrary library) throws NvmlFailure {
        Nvml nvml = Nvml.init(library);
        InitialisedNvml opened = new InitialisedNvml(nvml, NvmlSystemEventSet.register(nvml));
        try {
            nvml.attachGpus();
            return opened;
        } catch (NvmlFailure e) {
            opened.close();
            throw e;
        }
    }

    /** Ends the session; after a failure another call ends what is left of it. */
    void close() throws NvmlFailure {
        systemEvents.free();
        nvml.close();
    }
}
