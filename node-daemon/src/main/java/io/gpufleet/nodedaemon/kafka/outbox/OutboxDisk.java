package io.gpufleet.nodedaemon.kafka.outbox;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.util.Set;

/** Opens the files of the outbox. Tests use a disk that fails or loses data that was not flushed. */
@FunctionalInterface
public interface OutboxDisk {
    /** The file system of the machine. */
    OutboxDisk REAL = (file, options) -> FileChannel.open(file, options);

    /** As {@link FileChannel#open(Path, Set, java.nio.file.attribute.FileAttribute[])}. */
    FileChannel open(Path file, Set<? extends OpenOption> options) throws IOException;
}
