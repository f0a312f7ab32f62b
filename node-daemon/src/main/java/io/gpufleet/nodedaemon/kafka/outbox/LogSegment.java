package io.gpufleet.nodedaemon.kafka.outbox;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;

/**
 * One file of the on-disk log. The name is the segment's number with 20 decimal digits and {@code .outbox}; the content
 * is a sequence of records, integers are big-endian:
 *
 * <pre>
 * segment = *record
 * record  = length checksum payload
 *
 * field     bytes   content
 * length    4       bytes of the payload, 1 to 4,194,304
 * checksum  4       CRC-32C of the payload
 * payload   length  one event, see {@link OutboxEntry}
 * </pre>
 *
 * Reading skips a record whose checksum does not match, and stops at a length out of range or beyond the end of the file.
 */
final class LogSegment implements AutoCloseable {
    static final String SUFFIX = ".outbox";
    private static final Pattern NAME = Pattern.compile("(\\d{20})\\.outbox");
    private static final int HEADER_BYTES = 8;
    private static final int MAX_RECORD_BYTES = 4 * 1024 * 1024;

    private final long id;
    private final Path file;
    private final FileChannel channel;
    private long size;
    /** Whether something may not be on the disk: a flush of an unchanged file still empties the cache of the disk. */
    private volatile boolean dirty = true;

    /**
     * A record.
     *
     * @param after offset of the next record
     * @param clean false if an unreadable record was skipped before it
     */
    record SegmentRecord(byte[] record, long after, boolean clean) {}

    private LogSegment(long id, Path file, FileChannel channel, long size) {
        this.id = id;
        this.file = file;
        this.channel = channel;
        this.size = size;
    }

    static LogSegment create(OutboxDisk disk, Path directory, long id) throws IOException {
        Path file = directory.resolve(String.format(Locale.ROOT, "%020d%s", id, SUFFIX));
        var options = Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE);
        return new LogSegment(id, file, disk.open(file, options), 0);
    }

    static LogSegment open(OutboxDisk disk, Path file, long id) throws IOException {
        FileChannel channel = disk.open(file, Set.of(StandardOpenOption.READ));
        return new LogSegment(id, file, channel, channel.size());
    }

    /** The segment number in a file name; empty for other files. */
    static OptionalLong id(Path file) {
        var name = NAME.matcher(file.getFileName().toString());
        try {
            return name.matches() ? OptionalLong.of(Long.parseLong(name.group(1))) : OptionalLong.empty();
        } catch (NumberFormatException tooBig) {
            return OptionalLong.empty();
        }
    }

    long id() {
        return id;
    }

    long size() {
        return size;
    }

    /** Appends a record. After a partial write the file is truncated; if that fails too, the next append overwrites it. */
    void append(byte[] record) throws IOException {
        var buffer = ByteBuffer.allocate(HEADER_BYTES + record.length)
                .putInt(record.length)
                .putInt(checksum(record))
                .put(record)
                .flip();
        long at = size;
        try {
            while (buffer.hasRemaining()) {
                at += channel.write(buffer, at);
            }
            size = at;
        } finally {
            dirty = true;
            if (at > size) {
                channel.truncate(size);
            }
        }
    }

    /** The first readable record at or after an offset; empty if there is none. */
    Optional<SegmentRecord> read(long position) throws IOException {
        long at = position;
        while (at + HEADER_BYTES < size) {
            ByteBuffer head = ByteBuffer.allocate(HEADER_BYTES);
            readFully(head, at);
            int length = head.getInt();
            int expected = head.getInt();
            // After a power cut a file may end in zeros: its size was written before its data.
            if (length <= 0 || length > MAX_RECORD_BYTES || at + HEADER_BYTES + length > size) {
                return Optional.empty();
            }
            ByteBuffer record = ByteBuffer.allocate(length);
            readFully(record, at + HEADER_BYTES);
            long after = at + HEADER_BYTES + length;
            if (checksum(record.array()) == expected) {
                return Optional.of(new SegmentRecord(record.array(), after, at == position));
            }
            at = after;
        }
        return Optional.empty();
    }

    private static int checksum(byte[] record) {
        var crc = new CRC32C();
        crc.update(record);
        return (int) crc.getValue();
    }

    private void readFully(ByteBuffer buffer, long position) throws IOException {
        while (buffer.hasRemaining()) {
            if (channel.read(buffer, position + buffer.position()) < 0) {
                throw new IOException("segment " + file + " was truncated");
            }
        }
        buffer.flip();
    }

    /** Flushes to the disk; thread-safe. Does nothing for a segment that is flushed, or was deleted meanwhile. */
    void force() throws IOException {
        if (!dirty) {
            return;
        }
        dirty = false;
        try {
            channel.force(false);
        } catch (ClosedChannelException deleted) {
            // Every record of it is acknowledged.
        } catch (IOException failed) {
            dirty = true;
            throw failed;
        }
    }

    void delete() throws IOException {
        channel.close();
        Files.deleteIfExists(file);
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
