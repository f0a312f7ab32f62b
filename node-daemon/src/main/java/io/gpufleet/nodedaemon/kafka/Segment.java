package io.gpufleet.nodedaemon.kafka;

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

/** One file of records, each with its length and CRC-32C. A record that does not check is passed over. */
final class Segment implements AutoCloseable {
    static final String SUFFIX = ".outbox";
    private static final Pattern NAME = Pattern.compile("(\\d{20})\\.outbox");
    private static final int HEAD = 8;
    private static final int LONGEST_RECORD = 4 * 1024 * 1024;

    private final long id;
    private final Path file;
    private final FileChannel channel;
    private long size;

    /**
     * A record.
     *
     * @param after where the next one begins
     * @param clean false where something before it could not be read
     */
    record Found(byte[] record, long after, boolean clean) {}

    private Segment(long id, Path file, FileChannel channel, long size) {
        this.id = id;
        this.file = file;
        this.channel = channel;
        this.size = size;
    }

    static Segment create(Disk disk, Path directory, long id) throws IOException {
        Path file = directory.resolve(String.format(Locale.ROOT, "%020d%s", id, SUFFIX));
        var options = Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE);
        return new Segment(id, file, disk.open(file, options), 0);
    }

    static Segment open(Disk disk, Path file, long id) throws IOException {
        FileChannel channel = disk.open(file, Set.of(StandardOpenOption.READ));
        return new Segment(id, file, channel, channel.size());
    }

    /** The number in a file name; empty for a file of somebody else. */
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

    /** Writes at the end; where that fails half-way, the half is cut off, or else overwritten by the next try. */
    void append(byte[] record) throws IOException {
        var buffer = ByteBuffer.allocate(HEAD + record.length)
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
            if (at > size) {
                channel.truncate(size);
            }
        }
    }

    /** The first record at or after a position; empty at the end, and where nothing readable follows. */
    Optional<Found> read(long position) throws IOException {
        long at = position;
        while (at + HEAD < size) {
            ByteBuffer head = ByteBuffer.allocate(HEAD);
            readFully(head, at);
            int length = head.getInt();
            int expected = head.getInt();
            // A file that grew before its bytes came to the disk ends in zeros, which are no records either.
            if (length <= 0 || length > LONGEST_RECORD || at + HEAD + length > size) {
                return Optional.empty();
            }
            ByteBuffer record = ByteBuffer.allocate(length);
            readFully(record, at + HEAD);
            long after = at + HEAD + length;
            if (checksum(record.array()) == expected) {
                return Optional.of(new Found(record.array(), after, at == position));
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
                throw new IOException("segment " + file + " is shorter than it was");
            }
        }
        buffer.flip();
    }

    /** From any thread; a segment that was deleted meanwhile needs it no more. */
    void force() throws IOException {
        try {
            channel.force(false);
        } catch (ClosedChannelException settled) {
            // The broker has all of it.
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
