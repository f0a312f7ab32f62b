package io.gpufleet.testbed.kafka;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Free ports on loopback for processes that bind them later. They are below 32768, where Linux begins to take the source
 * ports of outgoing connections: such a port may be taken between its choice and the bind, or while its process restarts.
 * A port belongs to the JVM that chose it until that JVM ends, also while nothing listens on it: several test JVMs choose
 * at the same time, and a process that starts under load binds its port many seconds after it was chosen.
 */
public final class FreePort {
    static final int FIRST = 21_000;
    static final int LAST = 31_999;

    /** Locked at the position of each chosen port; a lock ends with its process. Never closed: that would end every lock. */
    private static final FileChannel CHOSEN = open();

    private FreePort() {}

    /** A port on which nothing listens now and that no other JVM was given. */
    public static int next() {
        int count = LAST - FIRST + 1;
        int start = ThreadLocalRandom.current().nextInt(count);
        for (int step = 0; step < count; step++) {
            int port = FIRST + (start + step) % count;
            if (choose(port) && isFree(port)) {
                return port;
            }
        }
        throw new IllegalStateException("no free port on loopback between " + FIRST + " and " + LAST);
    }

    /** False when this JVM or another one has the port. */
    static boolean choose(int port) {
        try {
            return CHOSEN.tryLock(port, 1, false) != null;
        } catch (OverlappingFileLockException ours) {
            return false;
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private static boolean isFree(int port) {
        try (var _ = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return true;
        } catch (IOException taken) {
            return false;
        }
    }

    private static FileChannel open() {
        String name = "gpufleet-test-ports-" + System.getProperty("user.name");
        try {
            return FileChannel.open(
                    Path.of(System.getProperty("java.io.tmpdir"), name),
                    StandardOpenOption.CREATE,
                    StandardOpenOption.WRITE);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
