package io.gpufleet.nodedaemon.kafka;

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
 * Up to where a lane is settled. It is never forced: an older answer only means that some events are sent again, under
 * their old ids.
 */
final class AckFile implements AutoCloseable {
    private static final int BYTES = 20;

    private final Disk disk;
    private final Path file;
    private @Nullable FileChannel open;

    AckFile(Disk disk, Path directory) {
        this.disk = disk;
        this.file = directory.resolve("acked");
    }

    /** What was written last; empty where nothing was, or where it does not check. */
    Optional<Lane.Position> read() throws IOException {
        try (FileChannel channel = disk.open(file, Set.of(StandardOpenOption.READ))) {
            ByteBuffer buffer = ByteBuffer.allocate(BYTES);
            if (channel.read(buffer, 0) != BYTES) {
                return Optional.empty();
            }
            buffer.flip();
            var kept = new Lane.Position(buffer.getLong(), buffer.getLong());
            return buffer.getInt() == checksum(kept) ? Optional.of(kept) : Optional.empty();
        } catch (NoSuchFileException firstStart) {
            return Optional.empty();
        }
    }

    /** Writes it in place; a disk that was read-only is tried anew each time. */
    void write(Lane.Position acked) throws IOException {
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

    private static int checksum(Lane.Position place) {
        var crc = new CRC32C();
        crc.update(ByteBuffer.allocate(16)
                .putLong(place.segment())
                .putLong(place.offset())
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
