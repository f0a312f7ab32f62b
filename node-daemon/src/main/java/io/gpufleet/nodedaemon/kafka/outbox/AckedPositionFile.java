package io.gpufleet.nodedaemon.kafka.outbox;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import java.util.Set;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The file {@code acked}: the position up to which a queue is acknowledged, 20 bytes, integers are big-endian:
 *
 * <pre>
 * field     bytes  content
 * segment   8      number of the segment
 * offset    8      byte offset in it
 * checksum  4      CRC-32C of the 16 bytes before
 * </pre>
 *
 * It is never flushed: after a power cut an older position only means that some events are sent again with their old ids.
 */
final class AckedPositionFile implements AutoCloseable {
    private static final int BYTES = 20;

    private final OutboxDisk disk;
    private final Path file;
    private @Nullable FileChannel open;

    AckedPositionFile(OutboxDisk disk, Path directory) {
        this.disk = disk;
        this.file = directory.resolve("acked");
    }

    /** The position written last; empty if there is none or its checksum does not match. */
    Optional<QueuePosition> read() throws IOException {
        try (FileChannel channel = disk.open(file, Set.of(StandardOpenOption.READ))) {
            ByteBuffer buffer = ByteBuffer.allocate(BYTES);
            if (channel.read(buffer, 0) != BYTES) {
                return Optional.empty();
            }
            buffer.flip();
            var saved = new QueuePosition(buffer.getLong(), buffer.getLong());
            return buffer.getInt() == checksum(saved) ? Optional.of(saved) : Optional.empty();
        } catch (NoSuchFileException firstStart) {
            return Optional.empty();
        }
    }

    /** Overwrites the file in place; opens it on every call until that succeeds. */
    void write(QueuePosition acked) throws IOException {
        FileChannel channel = open;
        if (channel == null) {
            channel = disk.open(file, Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE));
            open = channel;
        }
        channel.write(
                ByteBuffer.allocate(BYTES)
                        .putLong(acked.segment())
                        .putLong(acked.offset())
                        .putInt(checksum(acked))
                        .flip(),
                0);
    }

    private static int checksum(QueuePosition position) {
        var crc = new CRC32C();
        crc.update(ByteBuffer.allocate(16)
                .putLong(position.segment())
                .putLong(position.offset())
                .flip());
        return (int) crc.getValue();
    }

    @Override
    public void close() throws IOException {
        FileChannel channel = open;
        if (channel != null) {
            channel.close();
        }
    }
}
