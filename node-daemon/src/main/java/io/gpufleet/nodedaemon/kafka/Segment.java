package io.gpufleet.nodedaemon.kafka;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Locale;
import java.util.Optional;
import java.util.zip.CRC32C;

/** One file of records, each with its length and CRC-32C; what follows a record that does not check is not read. */
final class Segment implements AutoCloseable {
    static final String SUFFIX = ".outbox";
    private static final int HEAD = 8;
    private static final int LONGEST_RECORD = 4 * 1024 * 1024;

    private final long id;
    private final Path file;
    private final FileChannel channel;
    private long size;

    private Segment(long id, Path file, FileChannel channel, long size) {
        this.id = id;
        this.file = file;
        this.channel = channel;
        this.size = size;
    }

    static Segment create(Path directory, long id) throws IOException {
        Path file = directory.resolve(String.format(Locale.ROOT, "%020d%s", id, SUFFIX));
        return new Segment(
                id,
                file,
                FileChannel.open(
                        file, StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE),
                0);
    }

    static Segment open(Path file) throws IOException {
        String name = file.getFileName().toString();
        long id = Long.parseLong(name.substring(0, name.length() - SUFFIX.length()));
        return new Segment(id, file, FileChannel.open(file, StandardOpenOption.READ), Files.size(file));
    }

    long id() {
        return id;
    }

    long size() {
        return size;
    }

    /** Writes at the end; where that fails half-way, the next try overwrites it. */
    void append(byte[] record) throws IOException {
        var crc = new CRC32C();
        crc.update(record);
        var buffer = ByteBuffer.allocate(HEAD + record.length)
                .putInt(record.length)
                .putInt((int) crc.getValue())
                .put(record)
                .flip();
        long at = size;
        while (buffer.hasRemaining()) {
            at += channel.write(buffer, at);
        }
        size = at;
    }

    /** The record at a position; empty at the end, and where nothing readable follows. */
    Optional<byte[]> read(long position) throws IOException {
        if (position + HEAD > size) {
            return Optional.empty();
        }
        ByteBuffer head = ByteBuffer.allocate(HEAD);
        readFully(head, position);
        int length = head.getInt();
        int expected = head.getInt();
        if (length < 0 || length > LONGEST_RECORD || position + HEAD + length > size) {
            return Optional.empty();
        }
        ByteBuffer record = ByteBuffer.allocate(length);
        readFully(record, position + HEAD);
        var crc = new CRC32C();
        crc.update(record.array());
        return (int) crc.getValue() == expected ? Optional.of(record.array()) : Optional.empty();
    }

    private void readFully(ByteBuffer buffer, long position) throws IOException {
        while (buffer.hasRemaining()) {
            if (channel.read(buffer, position + buffer.position()) < 0) {
                throw new IOException("segment " + file + " is shorter than it was");
            }
        }
        buffer.flip();
    }

    /** Where the record after one of this length begins. */
    static long after(long position, byte[] record) {
        return position + HEAD + record.length;
    }

    void force() throws IOException {
        channel.force(false);
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
