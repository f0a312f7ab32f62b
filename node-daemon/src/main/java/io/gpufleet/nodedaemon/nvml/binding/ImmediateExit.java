package io.gpufleet.nodedaemon.nvml.binding;

/**
 * Ends this process at once. {@link Runtime#halt} would wait 300 ms for threads in native code (HotSpot's VM_Exit), and this
 * process always has some: in epoll, inotify and NVML's event wait.
 */
public final class ImmediateExit {
    private final LibC libc;

    private ImmediateExit(LibC libc) {
        this.libc = libc;
    }

    /** Loads the C library in advance; throws {@link LinkageError} where it is absent. */
    public static ImmediateExit load() {
        return new ImmediateExit(CLibrary.functions());
    }

    /** Does not return. */
    public void exit(int status) {
        libc._exit(status);
    }
}
