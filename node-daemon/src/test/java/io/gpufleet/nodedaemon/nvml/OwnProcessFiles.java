package io.gpufleet.nodedaemon.nvml;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Files that this process has open, by /proc. */
final class OwnProcessFiles {
    private OwnProcessFiles() {}

    /** Whether a file of that name is mapped. */
    static boolean mapped(String name) throws IOException {
        return Files.readAllLines(Path.of("/proc/self/maps")).stream().anyMatch(line -> line.endsWith(name));
    }

    /** Targets of the open descriptors. */
    static List<String> descriptors() throws IOException {
        List<String> targets = new ArrayList<>();
        try (Stream<Path> links = Files.list(Path.of("/proc/self/fd"))) {
            for (Path link : links.toList()) {
                if (Files.isSymbolicLink(link)) {
                    targets.add(Files.readSymbolicLink(link).toString());
                }
            }
        }
        return targets;
    }
}
