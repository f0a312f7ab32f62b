package io.gpufleet.nodedaemon.mps;

import io.gpufleet.kit.files.AtomicFile;
import io.gpufleet.nodedaemon.model.allocation.CompanionStatus;
import io.gpufleet.nodedaemon.model.allocation.MpsDaemonSpec;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The directory of one resource, shared with its MPS control daemon. Both files are replaced by a rename:
 *
 * <pre>
 * desired  written by the node-daemon, read by the MPS pod; key=value, one per line
 *   version  version of the other lines, hexadecimal
 *   devices  UUIDs of the GPUs, separated by commas
 *   threads  default active thread percentage of a client
 *   limits   default pinned memory limits, DEVICE:MEBIBYTES"M", separated by blanks
 * ready    written by the MPS pod each time the control daemon has responded; two lines
 *   1        version of the spec that is applied
 *   2        process id of the control daemon
 * pipe/    directory of the control daemon's pipes, for clients
 * </pre>
 */
final class MpsDirectory {
    /** Name of the file with the spec. */
    static final String DESIRED = "desired";

    /** The MPS pod calls the control daemon every 2 s; an older file counts as no response. */
    private static final Duration MAX_AGE = Duration.ofSeconds(15);

    private final Path directory;
    private final Path processes;
    private final Clock clock;

    MpsDirectory(Path directory, Path processes, Clock clock) {
        this.directory = directory;
        this.processes = processes;
        this.clock = clock;
    }

    /** Writes the spec if it changed; returns {@link CompanionStatus#READY}, or why the control daemon is not ready. */
    String reconcile(MpsDaemonSpec spec) {
        String text = text(spec);
        String version = specVersion(text);
        try {
            write("version=" + version + "\n" + text);
        } catch (IOException failed) {
            return directory + "/" + DESIRED + " cannot be written ("
                    + failed.getClass().getSimpleName() + "); mount the directory of MPS writable";
        }
        try {
            List<String> lines = Files.readAllLines(directory.resolve("ready"));
            Duration age = Duration.between(
                    Files.getLastModifiedTime(directory.resolve("ready")).toInstant(), clock.instant());
            return status(lines, version, age);
        } catch (NoSuchFileException absent) {
            return "control daemon has not responded; is the MPS DaemonSet on this node?";
        } catch (IOException unreadable) {
            return directory + "/ready cannot be read (" + unreadable.getClass().getSimpleName() + ")";
        }
    }

    private String status(List<String> lines, String version, Duration age) {
        if (lines.size() < 2 || !lines.getFirst().equals(version)) {
            return "control daemon has not applied the newest spec yet";
        }
        if (age.compareTo(MAX_AGE) > 0) {
            return "control daemon stopped responding";
        }
        boolean alive = lines.get(1).matches("\\d{1,10}") && Files.isDirectory(processes.resolve(lines.get(1)));
        return alive && Files.exists(directory.resolve("pipe/control"))
                ? CompanionStatus.READY
                : "control daemon exited";
    }

    private void write(String text) throws IOException {
        AtomicFile.writeIfChanged(
                directory.resolve(DESIRED), text.getBytes(StandardCharsets.UTF_8), AtomicFile.Durability.PROCESS);
    }

    private static String text(MpsDaemonSpec spec) {
        String devices =
                spec.devices().stream().map(MpsDaemonSpec.SharedGpu::uuid).collect(Collectors.joining(","));
        String limits = IntStream.range(0, spec.devices().size())
                .filter(i -> spec.devices().get(i).limitMebibytes() > 0)
                .mapToObj(i -> i + ":" + spec.devices().get(i).limitMebibytes() + "M")
                .collect(Collectors.joining(" "));
        return "devices=" + devices + "\nthreads=" + spec.threadPercentage() + "\nlimits=" + limits + "\n";
    }

    private static String specVersion(String text) {
        return Integer.toHexString(text.hashCode());
    }

    /**
     * Removes the spec; the control daemon ends when its last client has ended. A file of that name that the daemon has not
     * written stays.
     */
    boolean remove() throws IOException {
        Path desired = directory.resolve(DESIRED);
        boolean ours = Files.readString(desired).startsWith("version=");
        return ours && Files.deleteIfExists(desired);
    }
}
