package io.gpufleet.nodedaemon.host;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The AOT cache that the start script names. The virtual machine ignores it without a word when a jar or the runtime is not
 * that of the training run, and a jar that was copied with another modification time is another one.
 */
public final class AotCache {
    /** The system property with its path; absent where the daemon is started without one. */
    public static final String PROPERTY = "gpufleet.aot-cache";

    private static final Logger LOG = LoggerFactory.getLogger(AotCache.class);

    private AotCache() {}

    /** Logs a warning if the virtual machine has not mapped the cache; an empty path is none. */
    public static void warnIfUnused(String cache) {
        if (!cache.isEmpty() && !isMapped(cache, Path.of("/proc/self/maps"))) {
            LOG.atWarn()
                    .addKeyValue("cache", cache)
                    .log("AOT cache not used: the start takes longer and needs more memory; copy the package with its"
                            + " modification times (cp -a, tar), or package it again");
        }
    }

    /** Whether a file is among those that a process has mapped; true where that cannot be read. */
    static boolean isMapped(String file, Path maps) {
        try (Stream<String> lines = Files.lines(maps, StandardCharsets.ISO_8859_1)) {
            return lines.anyMatch(line -> line.endsWith(file));
        } catch (IOException unknown) {
            return true;
        }
    }
}
