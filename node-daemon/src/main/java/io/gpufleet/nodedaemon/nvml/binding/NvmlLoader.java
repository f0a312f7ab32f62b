package io.gpufleet.nodedaemon.nvml.binding;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import jnr.ffi.LibraryLoader;
import jnr.ffi.types.uintptr_t;

/**
 * Loads libraries and unmaps them. Linker and jnr-ffi identify a library by its path, and jnr-ffi never forgets the handle of
 * a path: a file that is loaded again gets another path to the same file.
 */
public final class NvmlLoader {
    private static final int RTLD_LAZY = 0x1;
    private static final int RTLD_NOLOAD = 0x4;
    /** Number of different paths to one file that fit into a path. */
    private static final int MOST_OPENINGS = 1000;

    private static final Map<String, Integer> OPENINGS = new HashMap<>();
    /** Kept from the garbage collector, which might close them a second time. */
    private static final List<LoadedLibrary> UNMAPPED = new ArrayList<>();

    private NvmlLoader() {}

    /** The dynamic linker. */
    public interface DynamicLinker {
        @uintptr_t
        long dlopen(String path, int flags);

        int dlclose(@uintptr_t long handle);
    }

    /**
     * A library that is mapped.
     *
     * @param name path by which linker and jnr-ffi identify it
     * @param unloadable whether it can be unmapped and loaded again
     */
    public record LoadedLibrary(NvmlLibrary library, String name, boolean unloadable) {}

    /** Prepares jnr-ffi for the first library, which takes long; loads none of the driver. */
    public static void prepare() {
        LibraryLoader.create(DynamicLinker.class).library("c").library("dl").load();
    }

    /** Loads a library; throws {@link UnsatisfiedLinkError} where the linker rejects the file. */
    public static synchronized LoadedLibrary load(String absolutePath) {
        int opening = OPENINGS.merge(absolutePath, 1, Integer::sum);
        int slash = absolutePath.lastIndexOf('/');
        String name = absolutePath.substring(0, slash) + "/.".repeat(opening - 1) + absolutePath.substring(slash);
        NvmlLibrary library =
                LibraryLoader.create(NvmlLibrary.class).failImmediately().load(name);
        return new LoadedLibrary(library, name, opening < MOST_OPENINGS);
    }

    /** Unmaps a library where that is possible; no thread may be in it or call it afterwards. */
    public static synchronized void unload(LoadedLibrary opened) {
        if (!opened.unloadable()) {
            return;
        }
        UNMAPPED.add(opened);
        DynamicLinker linker = LibraryLoader.create(DynamicLinker.class)
                .library("c")
                .library("dl")
                .load();
        long handle = linker.dlopen(opened.name(), RTLD_LAZY | RTLD_NOLOAD);
        if (handle != 0) {
            // Once for dlopen above, once for that of jnr-ffi.
            int _ = linker.dlclose(handle);
            int _ = linker.dlclose(handle);
        }
    }
}
