package io.gpufleet.nodedaemon.cdi;

import io.gpufleet.nodedaemon.model.HostPlaces;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A directory of the host below which a driver is installed, as this process sees it.
 *
 * @param places how paths of the host are seen
 * @param root path on the host
 */
record DriverRoot(HostPlaces places, String root) {
    private static final int MOST_HOPS = 8;

    /** Path on the host of what is first found of these, whatever it is; links are followed as they are meant. */
    Optional<String> first(List<String> relative) {
        return relative.stream()
                .map(path -> resolved(HostPlaces.below(root, path)))
                .filter(path -> Files.exists(seen(path)))
                .findFirst();
    }

    /** Names and link targets of a directory: a plain file is its own target. */
    TreeMap<String, String> entries(String directory) {
        var entries = new TreeMap<String, String>();
        Path seen = seen(HostPlaces.below(root, directory));
        if (!Files.isDirectory(seen)) {
            return entries;
        }
        try (var files = Files.newDirectoryStream(seen, "lib*.so*")) {
            for (Path file : files) {
                Path target = Files.isSymbolicLink(file) ? Files.readSymbolicLink(file) : file;
                entries.put(file.getFileName().toString(), target.getFileName().toString());
            }
        } catch (IOException unreadable) {
            return new TreeMap<>();
        }
        return entries;
    }

    /** Where a file of the root is on the host. */
    String onHost(String relative) {
        return HostPlaces.below(root, relative);
    }

    /** An absolute link below another root starts at that root, not at ours. */
    private String resolved(String hostPath) {
        String at = hostPath;
        try {
            for (int hops = 0; hops < MOST_HOPS && Files.isSymbolicLink(seen(at)); hops++) {
                Path target = Files.readSymbolicLink(seen(at));
                at = target.isAbsolute()
                        ? HostPlaces.below(root, target.toString())
                        : Path.of(at).resolveSibling(target).normalize().toString();
            }
            return at;
        } catch (IOException unreadable) {
            return hostPath;
        }
    }

    private Path seen(String hostPath) {
        return Path.of(places.seen(hostPath));
    }

    /** This root and then the host's own, without saying the same twice. */
    List<DriverRoot> andHost() {
        var roots = new ArrayList<>(List.of(this));
        if (!root.equals("/")) {
            roots.add(new DriverRoot(places, "/"));
        }
        return roots;
    }
}
