package io.gpufleet.nodedaemon.kafka.outbox;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.extension.AnnotatedElementContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.io.TempDirFactory;

/**
 * A directory in the memory file system of Linux for tests whose disk is simulated, and which make files by the
 * thousand; where there is no such memory it is on disk.
 */
final class MemoryDirectory implements TempDirFactory {
    private static final Path MEMORY = Path.of("/dev/shm");
    private static final long MIN_FREE_BYTES = 256L << 20;

    @Override
    public Path createTempDirectory(AnnotatedElementContext element, ExtensionContext test) throws IOException {
        return Files.isWritable(MEMORY) && Files.getFileStore(MEMORY).getUsableSpace() >= MIN_FREE_BYTES
                ? Files.createTempDirectory(MEMORY, "gpufleet-outbox-")
                : Files.createTempDirectory("gpufleet-outbox-");
    }
}
