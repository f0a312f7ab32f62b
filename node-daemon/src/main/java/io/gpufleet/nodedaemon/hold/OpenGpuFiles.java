package io.gpufleet.nodedaemon.hold;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** GPU files that this process has open or mapped; either keeps a driver from being unloaded. */
final class OpenGpuFiles {
    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
    private static final Path MAPPINGS = Path.of("/proc/self/maps");

    private final String pathPrefix;

    /** Finds files whose path has this prefix. */
    OpenGpuFiles(String pathPrefix) {
        this.pathPrefix = pathPrefix;
    }

    /** Paths of the files; empty where /proc cannot be read. */
    List<String> open() {
        var open = new ArrayList<String>();
        try (var links = Files.newDirectoryStream(DESCRIPTORS);
                var mappings = Files.lines(MAPPINGS)) {
            mappings.map(line -> line.substring(Math.max(0, line.indexOf('/'))))
                    .filter(path -> path.startsWith(pathPrefix))
                    .distinct()
                    .forEach(open::add);
            for (Path link : links) {
                String target = target(link);
                if (target.startsWith(pathPrefix)) {
                    open.add(target);
                }
            }
        } catch (IOException | UncheckedIOException | DirectoryIteratorException unreadable) {
            return List.of();
        }
        return open;
    }

    private static String target(Path link) {
        try {
            return Files.readSymbolicLink(link).toString();
        } catch (IOException closedMeanwhile) {
            return "";
        }
    }
}
