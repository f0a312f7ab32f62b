package io.gpufleet.nodedaemon.nvml.binding;

import jnr.ffi.LibraryLoader;
import jnr.ffi.Platform;

/**
 * The end of this process, without the virtual machine's farewell: {@link Runtime#halt} waits 300 ms for threads that are
 * in native code (HotSpot's VM_Exit), and ours always are: in epoll, inotify and NVML's event wait.
 */
public final class ProcessEnd {
    private final LibC libc;

    private ProcessEnd(LibC libc) {
        this.libc = libc;
    }

    /** Loads what the end needs, so that it takes no time then; throws {@link LinkageError} where that is not there. */
    public static ProcessEnd load() {
        return new ProcessEnd(LibraryLoader.create(LibC.class)
                .failImmediately()
                .load(Platform.getNativePlatform().getStandardCLibraryName()));
    }

    /** Does not return. */
    public void now(int status) {
        libc._exit(status);
    }
}
