package io.gpufleet.testbed.fakekubelet;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;

/** Sockets in the file system. */
final class SocketFileDetector {
    private static final int TYPE_MASK = 0170000;
    private static final int SOCKET = 0140000;

    private SocketFileDetector() {}

    /** True when a path is a unix domain socket. */
    static boolean isSocket(Path path) throws IOException {
        Object mode = Files.getAttribute(path, "unix:mode", LinkOption.NOFOLLOW_LINKS);
        return mode instanceof Integer bits && (bits & TYPE_MASK) == SOCKET;
    }
}
