package io.gpufleet.nodedaemon.nvml.binding;

import jnr.ffi.LibraryLoader;
import jnr.ffi.Platform;

/** The C library of this process, loaded once by the first that calls it: each load generates code. */
final class CLibrary {
    private static final LibC LOADED = LibraryLoader.create(LibC.class)
            .failImmediately()
            .load(Platform.getNativePlatform().getStandardCLibraryName());

    private CLibrary() {}

    /** Its functions; throws {@link LinkageError} where it is absent. */
    static LibC functions() {
        return LOADED;
    }
}
