package io.gpufleet.nodedaemon.nvml;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** What the kernel says that this process has open. */
final class OwnProcess {
    private OwnProcess() {}

    /** Whether a file of that name is mapped. */
    static boolean mapped(String name) throws IOException {
        return Files.readAllLines(Path.of("/proc/self/maps")).stream().anyMatch(line -> line.endsWith(name));
    }

    /** Where the descriptors lead. */
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
