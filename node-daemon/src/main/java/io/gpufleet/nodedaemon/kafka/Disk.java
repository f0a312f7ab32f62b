package io.gpufleet.nodedaemon.kafka;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.util.Set;

/** Opens the files of the outbox. A test hands in a disk that fails or loses what was not brought to it. */
@FunctionalInterface
interface Disk {
    /** The disk of the machine. */
    Disk REAL = (file, options) -> FileChannel.open(file, options);

    /** As {@link FileChannel#open(Path, Set, java.nio.file.attribute.FileAttribute[])}. */
    FileChannel open(Path file, Set<? extends OpenOption> options) throws IOException;
}
