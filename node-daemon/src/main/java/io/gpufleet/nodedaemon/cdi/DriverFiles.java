package io.gpufleet.nodedaemon.cdi;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Files of a driver that are mounted into containers.
 *
 * @param libraries libraries, with every soname in every directory of the dynamic linker
 * @param others programs, firmware, configuration of the graphics loaders
 * @param sockets sockets of the driver's services on the host
 */
record DriverFiles(List<CdiMount> libraries, List<CdiMount> others, List<CdiMount> sockets) {
    private static final List<String> LIBRARY_DIRECTORIES = List.of(
            "usr/lib64",
            "usr/lib/x86_64-linux-gnu",
            "usr/lib/x86_64-linux-gnu/nvidia/current",
            "usr/lib/aarch64-linux-gnu",
            "usr/lib/aarch64-linux-gnu/nvidia/current",
            "lib64",
            "lib/x86_64-linux-gnu",
            "lib/aarch64-linux-gnu",
            "usr/local/nvidia/lib64",
            "usr/lib");
    private static final List<String> PROGRAM_DIRECTORIES =
            List.of("usr/bin", "bin", "usr/sbin", "opt/bin", "usr/local/nvidia/bin");
    private static final String OWN_DIRECTORY = "usr/local/nvidia/";
    private static final List<String> PROGRAMS = List.of(
            "nvidia-smi",
            "nvidia-debugdump",
            "nvidia-persistenced",
            "nvidia-cuda-mps-control",
            "nvidia-cuda-mps-server",
            "nvidia-imex",
            "nvidia-imex-ctl");
    private static final List<String> SOCKETS =
            List.of("/run/nvidia-persistenced/socket", "/run/nvidia-fabricmanager/socket", "/tmp/nvidia-mps");
    /** Libraries with a version of their own, of EGL's platforms and of OpenCL's compiler. */
    private static final Pattern OTHER_VERSION =
            Pattern.compile("libnvidia-(egl-(gbm|wayland2?|xcb|xlib)|nvvm70)\\.so\\.\\d+(\\.\\d+)*");
    /** Loaded without a number, as CUDA's. */
    private static final Set<String> NAMES_WITHOUT_NUMBER = Set.of("libcuda.so", "libnvidia-vulkan-producer.so");
    /** Mesa's GBM loads its backend by this name; it is the allocator. */
    private static final String GBM_BACKEND = "gbm/nvidia-drm_gbm.so";

    private static final String ALLOCATOR = "libnvidia-allocator.so.";

    /** In {@code LD_LIBRARY_PATH} of NVIDIA's images. */
    private static final String NVIDIA_IMAGES = "/usr/local/nvidia/lib64";

    /** A directory below the root, with the names of each library of the version in it. */
    private record LibraryDirectory(String path, Map<String, Set<String>> names) {}

    /** Default directories of the dynamic linker on Red Hat and Debian, which it searches without a cache. */
    static List<String> linkerDirectories() {
        String machine = System.getProperty("os.arch").equals("aarch64") ? "aarch64" : "x86_64";
        return List.of(NVIDIA_IMAGES, "/usr/lib64", "/usr/lib/" + machine + "-linux-gnu");
    }

    /** Finds the files of a driver version below a root. */
    static DriverFiles of(DriverRoot root, String version) {
        Optional<LibraryDirectory> libraries = LIBRARY_DIRECTORIES.stream()
                .map(path -> new LibraryDirectory(path, names(root.entries(path), version)))
                .filter(directory ->
                        directory.names().keySet().stream().anyMatch(name -> name.endsWith(".so." + version)))
                .findFirst();
        // A driver in a directory of its own has its programs there; those of /usr/bin may be scripts that call them.
        boolean apart = libraries
                .filter(directory -> directory.path().startsWith(OWN_DIRECTORY))
                .isPresent();
        var others = new ArrayList<CdiMount>();
        for (String program : PROGRAMS) {
            root.firstExisting((apart ? PROGRAM_DIRECTORIES.reversed() : PROGRAM_DIRECTORIES)
                            .stream().map(each -> each + "/" + program).toList())
                    .ifPresent(path -> others.add(new CdiMount(path, "/usr/bin/" + program)));
        }
        root.firstExisting(Stream.of(
                                "lib/firmware/nvidia/",
                                "usr/lib/firmware/nvidia/",
                                "firmware/nvidia/",
                                OWN_DIRECTORY + "firmware/nvidia/")
                        .map(each -> each + version)
                        .toList())
                .ifPresent(path -> others.add(new CdiMount(path, "/lib/firmware/nvidia/" + version)));
        others.addAll(GraphicsLoaderFiles.mounts(root));
        return new DriverFiles(
                libraries.map(directory -> mounts(root, directory, version)).orElse(List.of()), others, sockets(root));
    }

    private static List<CdiMount> mounts(DriverRoot root, LibraryDirectory from, String version) {
        var found = new ArrayList<CdiMount>();
        from.names().forEach((file, names) -> {
            String onHost = root.onHost(from.path() + "/" + file);
            for (String directory : linkerDirectories()) {
                for (String name : names) {
                    found.add(new CdiMount(onHost, directory + "/" + name));
                }
                if (file.equals(ALLOCATOR + version)) {
                    found.add(new CdiMount(onHost, directory + "/" + GBM_BACKEND));
                }
            }
        });
        return found;
    }

    /**
     * Maps each file of the version to the names that programs load: its links, which have the soname, or its own name if
     * it has none. Of the names without a number, which are for compilers, few are loaded at run time.
     */
    private static Map<String, Set<String>> names(TreeMap<String, String> entries, String version) {
        var names = new TreeMap<String, Set<String>>();
        entries.keySet().stream()
                .filter(name -> name.endsWith(".so." + version)
                        || (OTHER_VERSION.matcher(name).matches() && name.equals(entries.get(name))))
                .forEach(name -> names.put(name, new TreeSet<>()));
        entries.forEach((name, _) -> {
            Set<String> of = names.get(file(entries, name));
            if (of != null && (NAMES_WITHOUT_NUMBER.contains(name) || name.matches(".*\\.so\\.\\d+"))) {
                of.add(name);
            }
        });
        names.forEach((file, of) -> {
            if (of.isEmpty()) {
                of.add(file);
            }
        });
        return names;
    }

    private static String file(TreeMap<String, String> entries, String name) {
        String at = name;
        for (int hops = 0; hops < entries.size(); hops++) {
            String target = entries.getOrDefault(at, at);
            if (target.equals(at)) {
                return at;
            }
            at = target;
        }
        return at;
    }

    private static List<CdiMount> sockets(DriverRoot root) {
        var found = new ArrayList<CdiMount>();
        for (String socket : SOCKETS) {
            root.withHostRoot().stream()
                    .flatMap(each -> each.firstExisting(List.of(socket)).stream())
                    .findFirst()
                    .ifPresent(path -> found.add(new CdiMount(path, socket)));
        }
        return found;
    }
}
