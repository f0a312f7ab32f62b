package io.gpufleet.nodedaemon.podresources;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.time.Clock;
import java.time.Duration;
import java.util.Objects;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Uptime of the kubelet of a socket: whether it is long enough to know its pods, counted by the monotonic clock from when its
 * socket was first seen: the clock of the node may be set at any time. Only the age of the first socket is that of its file,
 * since the kubelet may have run for long before this daemon. Not safe for use by several threads.
 */
final class KubeletUptime {
    private static final Duration STARTUP = Duration.ofSeconds(15);

    private final Path socket;
    private final Clock clock;
    private final LongSupplier nanoTime;
    private boolean asked;
    private @Nullable SeenSocket seen;

    /**
     * A socket, which each kubelet creates at its start.
     *
     * @param file identity of the file; empty where the file system has none
     * @param readyNanos by the monotonic clock
     */
    private record SeenSocket(String file, FileTime created, long readyNanos) {
        boolean is(BasicFileAttributes attributes) {
            return file.equals(Objects.toString(attributes.fileKey(), ""))
                    && created.equals(attributes.lastModifiedTime());
        }
    }

    /** Uptime by a clock for files and a monotonic one for all else. */
    KubeletUptime(Path socket, Clock clock, LongSupplier nanoTime) {
        this.socket = socket;
        this.clock = clock;
        this.nanoTime = nanoTime;
    }

    /** False also where no kubelet is. */
    boolean isReady() {
        boolean first = !asked;
        asked = true;
        BasicFileAttributes attributes;
        try {
            attributes = Files.readAttributes(socket, BasicFileAttributes.class);
        } catch (IOException absent) {
            return false;
        }
        SeenSocket now = seen;
        if (now == null || !now.is(attributes)) {
            Duration rest = first ? rest(attributes.lastModifiedTime()) : STARTUP;
            now = new SeenSocket(
                    Objects.toString(attributes.fileKey(), ""),
                    attributes.lastModifiedTime(),
                    nanoTime.getAsLong() + rest.toNanos());
            seen = now;
        }
        return nanoTime.getAsLong() - now.readyNanos() >= 0;
    }

    /** A file from the future is of a clock that was set back. */
    private Duration rest(FileTime created) {
        Duration age = Duration.between(created.toInstant(), clock.instant());
        Duration rest = age.isNegative() ? STARTUP : STARTUP.minus(age);
        return rest.isNegative() ? Duration.ZERO : rest;
    }
}
