package io.gpufleet.compose.fleet;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.UUID;
import java.util.stream.Stream;

/** Where a local fleet keeps what it is: {@code .gpufleet/} unless another folder is named. */
public record StateDirectory(Path root) {
    /** A socket's path has 107 bytes; this much is left for {@code /<node>/device-plugins/<plugin's socket>}. */
    private static final int ROOM_FOR_SOCKETS = 75;

    private static final int MAX_SOCKET_PATH = 107;

    /** Absolute from here on: parts run in other working directories. */
    public StateDirectory {
        root = root.toAbsolutePath().normalize();
    }

    /** The table of processes. */
    public Path stateFile() {
        return root.resolve("state.json");
    }

    /** Held while an {@code up} starts things. */
    public Path lockFile() {
        return root.resolve("lock");
    }

    /** Output of a part. */
    public Path log(String part) {
        return root.resolve("logs").resolve(part + ".log");
    }

    /** The broker's configuration and log. */
    public Path broker() {
        return root.resolve("kafka");
    }

    /** Where the stand-in API writes how to reach it. */
    public Path kubeconfig() {
        return root.resolve("kubeconfig");
    }

    /** Class data archives; they make a second start faster. */
    public Path classData() {
        return root.resolve("cds");
    }

    /** Files of one node's daemon. */
    public Path node(String node) {
        return root.resolve("nodes").resolve(node);
    }

    /** Kubelet sockets of all nodes: below the root, or where paths are short enough for sockets. */
    public Path sockets() {
        Path here = root.resolve("sockets");
        if (here.toString().length() + ROOM_FOR_SOCKETS <= MAX_SOCKET_PATH) {
            return here;
        }
        String id = UUID.nameUUIDFromBytes(root.toString().getBytes(StandardCharsets.UTF_8))
                .toString()
                .substring(0, 8);
        return Path.of(System.getProperty("java.io.tmpdir", "/tmp")).resolve("gpufleet-" + id);
    }

    /** Forgets the processes of a run that ended; the logs, the broker's log and the nodes' state stay. */
    public void forgetRun() {
        delete(sockets());
        delete(stateFile());
        delete(kubeconfig());
    }

    /** Removes everything. */
    public void clear() {
        delete(sockets());
        delete(root);
    }

    private static void delete(Path path) {
        if (!Files.exists(path)) {
            return;
        }
        try (Stream<Path> tree = Files.walk(path)) {
            for (Path each : tree.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(each);
            }
        } catch (IOException failed) {
            throw new UncheckedIOException(path + " can not be removed", failed);
        }
    }
}
