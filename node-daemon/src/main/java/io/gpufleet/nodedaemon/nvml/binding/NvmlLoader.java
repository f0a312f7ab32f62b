package io.gpufleet.nodedaemon.nvml.binding;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import jnr.ffi.LibraryLoader;
import jnr.ffi.types.uintptr_t;

/**
 * Opens libraries and unmaps them. Linker and jnr-ffi know a library by its path, and jnr-ffi remembers the handle behind a
 * path for ever: a file that is opened again is named in another way that leads to the same place.
 */
public final class NvmlLoader {
    private static final int RTLD_LAZY = 0x1;
    private static final int RTLD_NOLOAD = 0x4;
    /** A path has room for so many other names of a file. */
    private static final int MOST_OPENINGS = 1000;

    private static final Map<String, Integer> OPENINGS = new HashMap<>();
    /** Collected, they might be closed a second time. */
    private static final List<Opened> UNMAPPED = new ArrayList<>();

    private NvmlLoader() {}

    /** The dynamic linker. */
    public interface Linker {
        @uintptr_t
        long dlopen(String path, int flags);

        int dlclose(@uintptr_t long handle);
    }

    /**
     * A library that is mapped.
     *
     * @param name the path under which linker and jnr-ffi know it
     * @param mayGo whether it can be unmapped and opened again
     */
    public record Opened(NvmlLibrary library, String name, boolean mayGo) {}

    /** The library; throws {@link UnsatisfiedLinkError} where the linker refuses the file. */
    public static synchronized Opened load(String absolutePath) {
        int opening = OPENINGS.merge(absolutePath, 1, Integer::sum);
        int slash = absolutePath.lastIndexOf('/');
        String name = absolutePath.substring(0, slash) + "/.".repeat(opening - 1) + absolutePath.substring(slash);
        NvmlLibrary library =
                LibraryLoader.create(NvmlLibrary.class).failImmediately().load(name);
        return new Opened(library, name, opening < MOST_OPENINGS);
    }

    /** Unmaps a library where it may go; nobody may be in it or call it ever after. */
    public static synchronized void unload(Opened opened) {
        if (!opened.mayGo()) {
            return;
        }
        UNMAPPED.add(opened);
        Linker linker =
                LibraryLoader.create(Linker.class).library("c").library("dl").load();
        long handle = linker.dlopen(opened.name(), RTLD_LAZY | RTLD_NOLOAD);
        if (handle != 0) {
            // Once for the line above, once for jnr-ffi.
            int _ = linker.dlclose(handle);
            int _ = linker.dlclose(handle);
        }
    }
}
