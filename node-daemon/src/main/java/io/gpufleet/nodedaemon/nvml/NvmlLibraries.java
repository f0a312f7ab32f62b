package io.gpufleet.nodedaemon.nvml;

import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.nvml.binding.NvmlLibrary;
import io.gpufleet.nodedaemon.nvml.binding.NvmlLoader;
import io.gpufleet.nodedaemon.nvml.binding.NvmlLoader.LoadedLibrary;
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

/** Finds libnvidia-ml.so.1 and opens the file behind it. An open library stays open until {@link #unload}. */
final class NvmlLibraries {
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
    private final Map<String, LoadedLibrary> opened = new HashMap<>();

    NvmlLibraries(NvmlSettings settings) {
        this.settings = settings;
    }

    /** No usable library; the message is one line for operators. */
    static final class NvmlLibraryException extends Exception {
        private static final long serialVersionUID = 1L;

        private final DeviceScan.DriverProblem problem;

        NvmlLibraryException(DeviceScan.DriverProblem problem, String line) {
            super(line);
            this.problem = problem;
        }

        DeviceScan.ScanFailed asScan() {
            return new DeviceScan.ScanFailed(problem, String.valueOf(getMessage()));
        }
    }

    /** Opens the library that is on disk now; the same file is opened once. */
    NvmlLibrary open() throws NvmlLibraryException {
        Path file = file();
        try {
            Object key = Files.readAttributes(file, BasicFileAttributes.class).fileKey();
            String identity = file + "#" + key;
            LoadedLibrary known = opened.get(identity);
            if (known != null) {
                return known.library();
            }
            if (!isElf(file)) {
                throw rejected(file, "it is no ELF file");
            }
            LoadedLibrary loaded = NvmlLoader.load(file.toString());
            opened.put(identity, loaded);
            return loaded.library();
        } catch (UnsatisfiedLinkError e) {
            throw rejected(file, "the linker does not load it");
        } catch (IOException e) {
            throw rejected(file, "it cannot be read, " + e.getClass().getSimpleName());
        }
    }

    /** Unmaps all libraries; none may be used afterwards. */
    void unload() {
        opened.values().forEach(NvmlLoader::unload);
        opened.clear();
    }

    /** Unmaps all libraries but this one, those of older drivers; none of them may be used afterwards. */
    void unloadOthers(NvmlLibrary newest) {
        opened.values().removeIf(open -> {
            boolean other = open.library() != newest;
            if (other) {
                NvmlLoader.unload(open);
            }
            return other;
        });
    }

    /** The library loads, but is not NVML. */
    NvmlLibraryException notNvml() {
        return settings.library().isEmpty()
                ? new NvmlLibraryException(
                        DeviceScan.DriverProblem.FAILED, NAME + " below " + settings.driverRoot() + " has no nvmlInit")
                : rejected(Path.of(settings.library()), "it has no nvmlInit");
    }

    /** Real path of the library. */
    Path file() throws NvmlLibraryException {
        return settings.library().isEmpty() ? search() : configured();
    }

    private Path configured() throws NvmlLibraryException {
        Path file = Path.of(settings.library());
        if (!Files.isRegularFile(file)) {
            throw new NvmlLibraryException(
                    DeviceScan.DriverProblem.LIBRARY_ABSENT,
                    "GPUFLEET_NVML_LIBRARY=" + file + " is no file: name a " + NAME + ", or unset it to search below "
                            + settings.driverRoot());
        }
        return realPath(file);
    }

    private Path search() throws NvmlLibraryException {
        for (String directory : DIRECTORIES) {
            Path file = belowRoot(settings.driverRoot().resolve(directory).resolve(NAME));
            if (Files.isRegularFile(file)) {
                return realPath(file);
            }
        }
        throw new NvmlLibraryException(
                DeviceScan.DriverProblem.LIBRARY_ABSENT,
                "no " + NAME + " below " + settings.driverRoot()
                        + ": install the NVIDIA driver, or set GPUFLEET_DRIVER_ROOT or GPUFLEET_NVML_LIBRARY");
    }

    /** Follows symbolic links inside the driver root: an absolute link starts at the driver root, not at ours. */
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

    private static Path realPath(Path file) throws NvmlLibraryException {
        try {
            return file.toRealPath();
        } catch (IOException e) {
            throw rejected(file, "it cannot be read, " + e.getClass().getSimpleName());
        }
    }

    private static NvmlLibraryException rejected(Path file, String why) {
        return new NvmlLibraryException(
                DeviceScan.DriverProblem.FAILED,
                file + " is not an NVML library (" + why + "): let GPUFLEET_NVML_LIBRARY name a " + NAME
                        + ", or unset it to search below the driver root");
    }

    private static boolean isElf(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file, LinkOption.NOFOLLOW_LINKS)) {
            return Arrays.equals(in.readNBytes(ELF.length), ELF);
        }
    }
}
