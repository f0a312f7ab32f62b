package io.gpufleet.nodedaemon.cdi;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * What of a driver containers get.
 *
 * @param libraries each under every name by which programs ask for it, in every directory where they look
 * @param others programs, firmware, Vulkan's description
 * @param sockets of services of the driver that run on the host
 */
record DriverFiles(List<HostFile> libraries, List<HostFile> others, List<HostFile> sockets) {
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
    private static final List<String> PROGRAM_DIRECTORIES = List.of("usr/bin", "bin", "usr/sbin", "opt/bin");
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
    /** NVIDIA's images name it in {@code LD_LIBRARY_PATH}. */
    private static final String NVIDIA_IMAGES = "/usr/local/nvidia/lib64";

    /** The dynamic linker's own directories, of Red Hat's kind and of Debian's: there it looks without any cache. */
    static List<String> linkerDirectories() {
        String machine = System.getProperty("os.arch").equals("aarch64") ? "aarch64" : "x86_64";
        return List.of(NVIDIA_IMAGES, "/usr/lib64", "/usr/lib/" + machine + "-linux-gnu");
    }

    /** What is there now of a version below a root. */
    static DriverFiles of(DriverRoot root, String version) {
        var others = new ArrayList<HostFile>();
        for (String program : PROGRAMS) {
            root.first(PROGRAM_DIRECTORIES.stream()
                            .map(directory -> directory + "/" + program)
                            .toList())
                    .ifPresent(path -> others.add(new HostFile(path, "/usr/bin/" + program)));
        }
        root.first(Stream.of("lib/firmware/nvidia/", "usr/lib/firmware/nvidia/", "firmware/nvidia/")
                        .map(directory -> directory + version)
                        .toList())
                .ifPresent(path -> others.add(new HostFile(path, "/lib/firmware/nvidia/" + version)));
        return new DriverFiles(libraries(root, version), others, sockets(root));
    }

    private static List<HostFile> libraries(DriverRoot root, String version) {
        var found = new ArrayList<HostFile>();
        Optional<Map.Entry<String, Map<String, Set<String>>>> place = LIBRARY_DIRECTORIES.stream()
                .map(directory -> Map.entry(directory, names(root.entries(directory), version)))
                .filter(entry -> !entry.getValue().isEmpty())
                .findFirst();
        place.ifPresent(entry -> entry.getValue().forEach((file, names) -> {
            for (String directory : linkerDirectories()) {
                for (String name : names) {
                    found.add(new HostFile(root.onHost(entry.getKey() + "/" + file), directory + "/" + name));
                }
            }
        }));
        return found;
    }

    /**
     * By file of the version the names that programs ask for: its links, which are named as the library names itself, or
     * the file's own name where there is none. Of names without a number, for compilers, only CUDA's is asked for at
     * run time.
     */
    private static Map<String, Set<String>> names(TreeMap<String, String> entries, String version) {
        var names = new TreeMap<String, Set<String>>();
        entries.keySet().stream()
                .filter(name -> name.endsWith(".so." + version))
                .forEach(name -> names.put(name, new TreeSet<>()));
        entries.forEach((name, _) -> {
            Set<String> of = names.get(file(entries, name));
            if (of != null && (name.equals("libcuda.so") || name.matches(".*\\.so\\.\\d+"))) {
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

    private static List<HostFile> sockets(DriverRoot root) {
        var found = new ArrayList<HostFile>();
        for (String socket : SOCKETS) {
            root.andHost().stream()
                    .flatMap(each -> each.first(List.of(socket)).stream())
                    .findFirst()
                    .ifPresent(path -> found.add(new HostFile(path, socket)));
        }
        return found;
    }
}
