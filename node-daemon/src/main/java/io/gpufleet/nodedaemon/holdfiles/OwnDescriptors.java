package io.gpufleet.nodedaemon.holdfiles;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** What of the GPUs this process has open or mapped, as the kernel sees it; either keeps a driver from being unloaded. */
final class OwnDescriptors {
    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
    private static final Path MAPPINGS = Path.of("/proc/self/maps");

    private final String begin;

    /** Those whose paths begin so. */
    OwnDescriptors(String begin) {
        this.begin = begin;
    }

    /** Their paths; none where the kernel does not tell. */
    List<String> open() {
        var open = new ArrayList<String>();
        try (var links = Files.newDirectoryStream(DESCRIPTORS);
                var mappings = Files.lines(MAPPINGS)) {
            mappings.map(line -> line.substring(Math.max(0, line.indexOf('/'))))
                    .filter(path -> path.startsWith(begin))
                    .distinct()
                    .forEach(open::add);
            for (Path link : links) {
                String target = target(link);
                if (target.startsWith(begin)) {
                    open.add(target);
                }
            }
        } catch (IOException | UncheckedIOException | DirectoryIteratorException kernelDoesNotTell) {
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
