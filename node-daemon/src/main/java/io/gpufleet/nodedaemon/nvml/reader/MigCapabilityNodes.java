package io.gpufleet.nodedaemon.nvml.reader;

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
 * Finds the device nodes that a process needs to use a MIG instance, in {@code driver/nvidia-caps/mig-minors} below /proc.
 * The file lists thousands of instances that do not exist, so only requested ones are cached.
 */
public final class MigCapabilityNodes {
    private static final Logger LOG = LoggerFactory.getLogger(MigCapabilityNodes.class);
    private static final String NODE = "/dev/nvidia-caps/nvidia-cap";

    private final Path minors;
    private final Map<String, String> known = new ConcurrentHashMap<>();
    private volatile boolean errorLogged;

    public MigCapabilityNodes(Path proc) {
        this.minors = proc.resolve("driver/nvidia-caps/mig-minors");
    }

    /** Device nodes of the GPU instance and of the compute instance; fewer where the kernel lists none. */
    List<String> nodes(int gpuMinor, int gpuInstance, int computeInstance) {
        String instance = "gpu" + gpuMinor + "/gi" + gpuInstance;
        return Stream.of(instance + "/access", instance + "/ci" + computeInstance + "/access")
                .flatMap(capability -> node(capability).stream())
                .toList();
    }

    private Optional<String> node(String capability) {
        String before = known.get(capability);
        if (before != null) {
            return Optional.of(before);
        }
        try (Stream<String> lines = Files.lines(minors)) {
            Optional<String> node = lines.filter(line -> line.startsWith(capability + " "))
                    .map(line -> NODE + line.substring(capability.length()).strip())
                    .findFirst();
            node.ifPresent(found -> known.put(capability, found));
            return node;
        } catch (IOException | UncheckedIOException e) {
            if (!errorLogged) {
                errorLogged = true;
                LOG.atWarn()
                        .addKeyValue("file", minors)
                        .addKeyValue("error", e.toString())
                        .log("MIG capability nodes unknown, containers may lack them");
            }
            return Optional.empty();
        }
    }
}
