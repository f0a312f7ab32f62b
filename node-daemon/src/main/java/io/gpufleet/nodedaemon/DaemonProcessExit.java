package io.gpufleet.nodedaemon;

import io.gpufleet.nodedaemon.nvml.binding.ImmediateExit;
import java.util.function.IntConsumer;

/**
 * Ends the process at once. {@link Runtime#halt} waits 300 ms for threads in native code, so with NVML the C library ends
 * the process; see decision 17.
 */
final class DaemonProcessExit implements IntConsumer {
    /** Set if the virtual machine is to write an archive of its classes at its end, which an immediate exit skips. */
    private static final String CLASS_ARCHIVE_PROPERTY = "gpufleet.keep-class-data";

    private volatile IntConsumer exit = Runtime.getRuntime()::halt;

    /**
     * Loads the immediate exit in the background. Not for simulated and recorded GPUs, which load no native code:
     * thousands of such daemons would pay for it at their start.
     */
    void prepare(String sourceName) {
        if (sourceName.equals("nvml") && !Boolean.getBoolean(CLASS_ARCHIVE_PROPERTY)) {
            Thread.ofPlatform().name("process-exit").daemon(true).start(() -> exit = ImmediateExit.load()::exit);
        }
    }

    @Override
    public void accept(int status) {
        exit.accept(status);
    }
}
