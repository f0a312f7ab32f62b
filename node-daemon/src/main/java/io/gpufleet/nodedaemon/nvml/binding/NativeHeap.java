package io.gpufleet.nodedaemon.nvml.binding;

/** The memory that native code has freed and the C library keeps: 6 MiB after a start, most of it of the compiler. */
public final class NativeHeap {
    private NativeHeap() {}

    /** Returns it to the kernel. Throws {@link LinkageError} where the C library cannot. */
    public static void trim() {
        int _ = CLibrary.functions().malloc_trim(0);
    }
}
