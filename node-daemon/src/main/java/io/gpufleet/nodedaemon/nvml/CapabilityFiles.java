package io.gpufleet.nodedaemon.nvml;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which device nodes let a process use a MIG instance, from {@code driver/nvidia-caps/mig-minors} below /proc. The kernel
 * gives out minors for thousands of instances that do not exist, so only what was asked for is kept.
 */
final class CapabilityFiles {
    private static final Logger LOG = LoggerFactory.getLogger(CapabilityFiles.class);
    private static final String NODE = "/dev/nvidia-caps/nvidia-cap";

    private final Path minors;
    private final Map<String, String> known = new ConcurrentHashMap<>();
    private volatile boolean complained;

    CapabilityFiles(Path proc) {
        this.minors = proc.resolve("driver/nvidia-caps/mig-minors");
    }

    /** The nodes of the GPU instance and of the compute instance; fewer where the kernel names none. */
    List<String> nodes(int gpuMinor, int gpuInstance, int computeInstance) {
        String instance = "gpu" + gpuMinor + "/gi" + gpuInstance;
        return Stream.of(instance + "/access", instance + "/ci" + computeInstance + "/access")
                .flatMap(right -> node(right).stream())
                .toList();
    }

    private Optional<String> node(String right) {
        String before = known.get(right);
        if (before != null) {
            return Optional.of(before);
        }
        try (Stream<String> lines = Files.lines(minors)) {
            Optional<String> node = lines.filter(line -> line.startsWith(right + " "))
                    .map(line -> NODE + line.substring(right.length()).strip())
                    .findFirst();
            node.ifPresent(found -> known.put(right, found));
            return node;
        } catch (IOException | UncheckedIOException e) {
            if (!complained) {
                complained = true;
                LOG.atWarn()
                        .addKeyValue("file", minors)
                        .addKeyValue("error", e.toString())
                        .log("capability nodes of MIG instances are unknown, containers may lack them");
            }
            return Optional.empty();
        }
    }
}
