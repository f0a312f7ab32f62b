package io.gpufleet.nodedaemon.nvml.binding;

/**
 * Lowers the priority of threads that report, so that on a busy node they do not run while an answer to the kubelet waits.
 * Java's own priorities have no effect on Linux without a flag that needs root. Threads that a lowered thread starts are
 * lowered as well.
 */
public final class LowThreadPriority {
    private static final int PRIO_PROCESS = 0;
    /** A tenth of the weight of nice 0 when both want a core (sched_prio_to_weight of the kernel: 110 of 1,024). */
    private static final int NICE = 10;

    private LowThreadPriority() {}

    /** Lowers the calling thread; without effect where the kernel refuses. Throws {@link LinkageError} without a C library. */
    public static void lowerThisThread() {
        int _ = CLibrary.functions().setpriority(PRIO_PROCESS, 0, NICE);
    }
}
