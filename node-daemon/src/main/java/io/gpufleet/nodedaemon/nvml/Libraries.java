package io.gpufleet.nodedaemon.nvml;

import io.gpufleet.nodedaemon.model.Look;
import io.gpufleet.nodedaemon.nvml.binding.NvmlLibrary;
import io.gpufleet.nodedaemon.nvml.binding.NvmlLoader;
import io.gpufleet.nodedaemon.nvml.binding.NvmlLoader.Opened;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Finds libnvidia-ml.so.1 and opens the file behind it; one that is open already stays so until {@link #unload}. */
final class Libraries {
    private static final String NAME = "libnvidia-ml.so.1";
    private static final List<String> DIRECTORIES = List.of(
            "usr/lib64",
            "usr/lib/x86_64-linux-gnu",
            "usr/lib/aarch64-linux-gnu",
            "lib64",
            "lib/x86_64-linux-gnu",
            "lib/aarch64-linux-gnu",
            "usr/local/nvidia/lib64",
            "home/kubernetes/bin/nvidia/lib64",
            "run/opengl-driver/lib",
            "usr/lib/wsl/lib",
            "usr/lib");
    private static final byte[] ELF = {0x7f, 'E', 'L', 'F'};

    private final NvmlSettings settings;
    private final Map<String, Opened> opened = new HashMap<>();

    Libraries(NvmlSettings settings) {
        this.settings = settings;
    }

    /** No library for a reason that the operator can read. */
    static final class NoLibrary extends Exception {
        private static final long serialVersionUID = 1L;

        private final Look.DriverTrouble trouble;

        NoLibrary(Look.DriverTrouble trouble, String line) {
            super(line);
            this.trouble = trouble;
        }

        Look.Blind asLook() {
            return new Look.Blind(trouble, String.valueOf(getMessage()));
        }
    }

    /** The library as it lies on disk now. */
    NvmlLibrary open() throws NoLibrary {
        Path file = file();
        try {
            Object key = Files.readAttributes(file, BasicFileAttributes.class).fileKey();
            String identity = file + "#" + key;
            Opened known = opened.get(identity);
            if (known != null) {
                return known.library();
            }
            if (!isElf(file)) {
                throw refused(file, "it is no ELF file");
            }
            Opened fresh = NvmlLoader.load(file.toString());
            opened.put(identity, fresh);
            return fresh.library();
        } catch (UnsatisfiedLinkError e) {
            throw refused(file, "the linker does not load it");
        } catch (IOException e) {
            throw refused(file, "it can not be read, " + e.getClass().getSimpleName());
        }
    }

    /** Unmaps all that is open; nobody may use it any more. */
    void unload() {
        opened.values().forEach(NvmlLoader::unload);
        opened.clear();
    }

    /** Unmaps what was open before this one, an older driver's library; nobody may use it any more. */
    void unloadOthers(NvmlLibrary newest) {
        opened.values().removeIf(open -> {
            boolean other = open.library() != newest;
            if (other) {
                NvmlLoader.unload(open);
            }
            return other;
        });
    }

    /** A file that loads but is something else. */
    NoLibrary notNvml() {
        return settings.library().isEmpty()
                ? new NoLibrary(
                        Look.DriverTrouble.FAILED, NAME + " below " + settings.driverRoot() + " has no nvmlInit")
                : refused(Path.of(settings.library()), "it has no nvmlInit");
    }

    /** Where it lies, links followed. */
    Path file() throws NoLibrary {
        return settings.library().isEmpty() ? search() : named();
    }

    private Path named() throws NoLibrary {
        Path file = Path.of(settings.library());
        if (!Files.isRegularFile(file)) {
            throw new NoLibrary(
                    Look.DriverTrouble.LIBRARY_ABSENT,
                    "GPUFLEET_NVML_LIBRARY=" + file + " is no file: name a " + NAME + ", or unset it to search below "
                            + settings.driverRoot());
        }
        return real(file);
    }

    private Path search() throws NoLibrary {
        for (String directory : DIRECTORIES) {
            Path file = belowRoot(settings.driverRoot().resolve(directory).resolve(NAME));
            if (Files.isRegularFile(file)) {
                return real(file);
            }
        }
        throw new NoLibrary(
                Look.DriverTrouble.LIBRARY_ABSENT,
                "no " + NAME + " below " + settings.driverRoot()
                        + ": install the NVIDIA driver, or set GPUFLEET_DRIVER_ROOT or GPUFLEET_NVML_LIBRARY");
    }

    /** Follows links as they are meant: an absolute one starts at the driver root, not at ours. */
    private Path belowRoot(Path file) {
        Path at = file;
        try {
            for (int hops = 0; hops < 8 && Files.isSymbolicLink(at); hops++) {
                Path target = Files.readSymbolicLink(at);
                at = target.isAbsolute()
                        ? settings.driverRoot().resolve(Path.of("/").relativize(target))
                        : at.resolveSibling(target);
            }
            return at;
        } catch (IOException e) {
            return file;
        }
    }

    private static Path real(Path file) throws NoLibrary {
        try {
            return file.toRealPath();
        } catch (IOException e) {
            throw refused(file, "it can not be read, " + e.getClass().getSimpleName());
        }
    }

    private static NoLibrary refused(Path file, String why) {
        return new NoLibrary(
                Look.DriverTrouble.FAILED,
                file + " is not an NVML library (" + why + "): let GPUFLEET_NVML_LIBRARY name a " + NAME
                        + ", or unset it to search below the driver root");
    }

    private static boolean isElf(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file, LinkOption.NOFOLLOW_LINKS)) {
            return Arrays.equals(in.readNBytes(ELF.length), ELF);
        }
    }
}
