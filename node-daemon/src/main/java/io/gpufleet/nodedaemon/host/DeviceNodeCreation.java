package io.gpufleet.nodedaemon.host;

import io.gpufleet.nodedaemon.model.allocation.HostPaths;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes device nodes that containers need and the driver does not make by itself: {@code nvidia-uvm}, and those of MIG
 * instances. The driver's own {@code nvidia-modprobe} also loads the kernel module; without it, nodes are made by the major
 * numbers of {@code /proc/devices}.
 */
final class DeviceNodeCreation {
    private static final Logger LOG = LoggerFactory.getLogger(DeviceNodeCreation.class);
    private static final String UVM = "/dev/nvidia-uvm";
    private static final String UVM_TOOLS = "/dev/nvidia-uvm-tools";
    private static final String CAPABILITY = "/dev/nvidia-caps/nvidia-cap";
    private static final Duration RETRY = Duration.ofMinutes(1);
    private static final int ALL_READ_AND_WRITE = 0666;
    private static final int ALL_READ = 0444;

    private final HostPaths paths;
    private final Path proc;
    private final NodeMaker maker;
    private final LongSupplier nanoTime;
    private Map<String, String> failures = Map.of();
    private long triedNanos;

    /** Makers of device nodes; each returns why it failed, empty on success. */
    interface NodeMaker {
        /** Runs a program of the host, with a time limit. */
        String run(List<String> command);

        /** Makes a character device. */
        String make(String path, int permissions, int major, int minor);
    }

    DeviceNodeCreation(HostPaths paths, Path proc, NodeMaker maker, LongSupplier nanoTime) {
        this.paths = paths;
        this.proc = proc;
        this.maker = maker;
        this.nanoTime = nanoTime;
    }

    /** Makes what is missing of the nodes; returns why a node is missing still, by its path in a container. */
    Map<String, String> ensure(String driverRoot, String devRoot, Collection<String> capabilities) {
        List<String> missing = Stream.concat(Stream.of(UVM), capabilities.stream())
                .distinct()
                .filter(node -> !exists(devRoot, node))
                .toList();
        if (missing.isEmpty()) {
            failures = Map.of();
            return failures;
        }
        boolean sameAsBefore = List.copyOf(failures.keySet()).equals(missing);
        if (!sameAsBefore || nanoTime.getAsLong() - triedNanos >= RETRY.toNanos()) {
            triedNanos = nanoTime.getAsLong();
            failures = create(driverRoot, devRoot, missing);
        }
        return failures;
    }

    private Map<String, String> create(String driverRoot, String devRoot, List<String> missing) {
        String modprobe = missing.contains(UVM) ? modprobe(driverRoot) : "";
        var still = new LinkedHashMap<String, String>();
        for (String node : missing) {
            String why = exists(devRoot, node) ? "" : byMajor(devRoot, node);
            if (!why.isEmpty() && !exists(devRoot, node)) {
                still.put(node, node.equals(UVM) ? modprobe + "; " + why : why);
            } else {
                LOG.atInfo().addKeyValue("node", devRoot + node).log("device node made");
            }
        }
        if (missing.contains(UVM) && !still.containsKey(UVM) && !exists(devRoot, UVM_TOOLS)) {
            String _ = byMajor(devRoot, UVM_TOOLS);
        }
        return still;
    }

    /** In the driver's root, where the program and its kernel modules are. */
    private String modprobe(String driverRoot) {
        String root = paths.processPath(driverRoot);
        Optional<String> program = Stream.of("/usr/bin/nvidia-modprobe", "/bin/nvidia-modprobe")
                .filter(file -> Files.isExecutable(Path.of(HostPaths.resolve(root, file))))
                .findFirst();
        return program.isEmpty()
                ? "no nvidia-modprobe below " + driverRoot
                : maker.run(List.of("chroot", root, program.get(), "-u", "-c", "0"));
    }

    private String byMajor(String devRoot, String node) {
        boolean capability = node.startsWith(CAPABILITY);
        String driver = capability ? "nvidia-caps" : "nvidia-uvm";
        Optional<Integer> major = major(driver);
        if (major.isEmpty()) {
            return proc.resolve("devices") + " has no " + driver + ": load its kernel module";
        }
        int minor = capability ? Integer.parseInt(node.substring(CAPABILITY.length())) : node.equals(UVM) ? 0 : 1;
        Path path = Path.of(paths.processPath(devRoot + node));
        try {
            Files.createDirectories(path.getParent());
        } catch (IOException e) {
            return path.getParent() + " cannot be made: " + e.getClass().getSimpleName();
        }
        return maker.make(path.toString(), capability ? ALL_READ : ALL_READ_AND_WRITE, major.get(), minor);
    }

    private Optional<Integer> major(String driver) {
        try (Stream<String> lines = Files.lines(proc.resolve("devices"))) {
            return lines.map(line -> line.strip().split("\\s+", 2))
                    .filter(words -> words.length == 2 && words[1].equals(driver) && words[0].matches("\\d{1,7}"))
                    .map(words -> Integer.valueOf(words[0]))
                    .findFirst();
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private boolean exists(String devRoot, String node) {
        return Files.exists(Path.of(paths.processPath(devRoot + node)));
    }
}
