package io.gpufleet.cli.fleet;

import io.gpufleet.kit.config.ConfigurationException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;

/** The state directory of a local fleet: {@code .gpufleet/} by default. */
public record StateDirectory(Path root) {
    /** Of the 107 bytes of a socket path, this much is for {@code /<node>/device-plugins/<plugin's socket>}. */
    private static final int RESERVED_FOR_SOCKET_NAMES = 75;

    private static final int MAX_SOCKET_PATH = 107;
    private static final long MEBIBYTE = 1 << 20;
    /** Logs, the log of the broker and others; class data is written once the fleet has stopped, and only where it fits. */
    private static final long SMALLEST_FLEET_BYTES = 256 * MEBIBYTE;

    /** Made absolute, since processes run in other working directories. */
    public StateDirectory {
        root = root.toAbsolutePath().normalize();
    }

    /** The error of a command that needs a fleet where none was started. */
    public ConfigurationException noFleet() {
        return new ConfigurationException(
                Files.isDirectory(root)
                        ? "no fleet runs here; './gpufleet up' starts one"
                        : "no fleet runs here: there is no state directory " + root
                                + "; './gpufleet up' with the same --state starts one");
    }

    /** Refuses a file system with less space than the smallest fleet takes. */
    public void requireSpace(long usableBytes) {
        if (usableBytes < SMALLEST_FLEET_BYTES) {
            throw new ConfigurationException("the state directory " + root + " has " + usableBytes / MEBIBYTE
                    + " MiB left, a fleet takes " + SMALLEST_FLEET_BYTES / MEBIBYTE
                    + " MiB or more: free some, or name another directory with --state");
        }
    }

    /** The table of processes. */
    public Path stateFile() {
        return root.resolve("state.json");
    }

    /** Lock file, held during {@code up}. */
    public Path lockFile() {
        return root.resolve("lock");
    }

    /** Log file of a process. */
    public Path log(String process) {
        return root.resolve("logs").resolve(process + ".log");
    }

    /** Directory of the broker's configuration and log. */
    public Path broker() {
        return root.resolve("kafka");
    }

    /** The same of a broker that a drill adds. */
    public Path secondBroker() {
        return root.resolve("kafka-2");
    }

    /** Kubeconfig of the fake API server. */
    public Path kubeconfig() {
        return root.resolve("kubeconfig");
    }

    /** Directory of class data archives, for a faster start. */
    public Path classData() {
        return root.resolve("cds");
    }

    /** Directory of the daemon of a node. */
    public Path node(String node) {
        return root.resolve("nodes").resolve(node);
    }

    /**
     * Directory of the kubelet sockets: below the root, or in the temporary directory where the path would be too long.
     */
    public Path sockets() {
        Path here = root.resolve("sockets");
        if (here.toString().length() + RESERVED_FOR_SOCKET_NAMES <= MAX_SOCKET_PATH) {
            return here;
        }
        String id = UUID.nameUUIDFromBytes(root.toString().getBytes(StandardCharsets.UTF_8))
                .toString()
                .substring(0, 8);
        return Path.of(System.getProperty("java.io.tmpdir", "/tmp")).resolve("gpufleet-" + id);
    }

    /** Deletes the files of a run that ended; logs, the broker's log and the state of the nodes stay. */
    public void deleteRun() {
        DirectoryTrees.delete(sockets());
        DirectoryTrees.delete(stateFile());
        DirectoryTrees.delete(kubeconfig());
    }

    /** Removes everything. */
    public void deleteAll() {
        DirectoryTrees.delete(sockets());
        DirectoryTrees.delete(root);
    }
}
