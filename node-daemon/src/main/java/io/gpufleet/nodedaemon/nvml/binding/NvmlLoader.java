package io.gpufleet.nodedaemon.nvml.binding;

import jnr.ffi.LibraryLoader;

/** Opens a library by its path. */
public final class NvmlLoader {
    private NvmlLoader() {}

    /** The library; throws {@link UnsatisfiedLinkError} where the linker refuses the file. */
    public static NvmlLibrary load(String absolutePath) {
        return LibraryLoader.create(NvmlLibrary.class).failImmediately().load(absolutePath);
    }
}
