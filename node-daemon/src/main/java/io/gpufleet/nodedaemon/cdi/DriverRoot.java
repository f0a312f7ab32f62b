package io.gpufleet.nodedaemon.cdi;

import io.gpufleet.nodedaemon.model.allocation.HostPaths;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The directory of the host below which a driver is installed.
 *
 * @param hostPaths maps paths of the host to paths of this process
 * @param root path on the host
 */
record DriverRoot(HostPaths hostPaths, String root) {
    private static final int MAX_LINK_HOPS = 8;

    /** Path on the host of the first of these that exists; links are resolved relative to the root. */
    Optional<String> firstExisting(List<String> relative) {
        return relative.stream()
                .map(path -> resolved(HostPaths.resolve(root, path)))
                .filter(path -> Files.exists(localPath(path)))
                .findFirst();
    }

    /** Names and link targets of the libraries in a directory; a regular file is its own target. */
    TreeMap<String, String> entries(String directory) {
        var entries = new TreeMap<String, String>();
        Path local = localPath(HostPaths.resolve(root, directory));
        if (!Files.isDirectory(local)) {
            return entries;
        }
        try (var files = Files.newDirectoryStream(local, "lib*.so*")) {
            for (Path file : files) {
                Path target = Files.isSymbolicLink(file) ? Files.readSymbolicLink(file) : file;
                entries.put(file.getFileName().toString(), target.getFileName().toString());
            }
        } catch (IOException unreadable) {
            return new TreeMap<>();
        }
        return entries;
    }

    /** Path on the host of a file below the root. */
    String onHost(String relative) {
        return HostPaths.resolve(root, relative);
    }

    /** Resolves links; an absolute link starts at the root of the driver. */
    private String resolved(String hostPath) {
        String at = hostPath;
        try {
            for (int hops = 0; hops < MAX_LINK_HOPS && Files.isSymbolicLink(localPath(at)); hops++) {
                Path target = Files.readSymbolicLink(localPath(at));
                at = target.isAbsolute()
                        ? HostPaths.resolve(root, target.toString())
                        : Path.of(at).resolveSibling(target).normalize().toString();
            }
            return at;
        } catch (IOException unreadable) {
            return hostPath;
        }
    }

    private Path localPath(String hostPath) {
        return Path.of(hostPaths.processPath(hostPath));
    }

    /** This root, followed by the host's own root if they differ. */
    List<DriverRoot> withHostRoot() {
        var roots = new ArrayList<>(List.of(this));
        if (!root.equals("/")) {
            roots.add(new DriverRoot(hostPaths, "/"));
        }
        return roots;
    }
}
