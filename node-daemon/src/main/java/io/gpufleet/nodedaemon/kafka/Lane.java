package io.gpufleet.nodedaemon.kafka;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A queue of records in a row of segment files: appended at the end, read on, forgotten from the front once acknowledged.
 * Where the disk refuses, records wait in memory instead, as many as fit. One thread, except {@link #force}.
 */
final class Lane implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Lane.class);
    private static final int MEMORY_BYTES = 1024 * 1024;
    private static final int ACK_BYTES = 20;

    private final Path directory;
    private final long segmentBytes;
    private final TreeMap<Long, Segment> segments = new TreeMap<>();
    private final ArrayDeque<byte[]> memory = new ArrayDeque<>();
    private @Nullable FileChannel ackFile;
    private volatile @Nullable Segment tail;
    private long nextId;
    private Position read;
    private Position acked;
    private int memoryRead;
    private long memoryFirst;
    private int memoryBytes;
    private boolean diskBroken;

    /**
     * A place in the lane.
     *
     * @param segment segment number; {@link Long#MAX_VALUE} for records in memory
     * @param offset byte offset in the segment, or number of the record in memory
     */
    record Position(long segment, long offset) implements Comparable<Position> {
        private static final Comparator<Position> ORDER =
                Comparator.comparingLong(Position::segment).thenComparingLong(Position::offset);

        boolean inMemory() {
            return segment == Long.MAX_VALUE;
        }

        @Override
        public int compareTo(Position other) {
            return ORDER.compare(this, other);
        }
    }

    /** A record, and the place after it. */
    record Item(byte[] record, Position after) {}

    /** Opens what an earlier start left; new records go to a new segment. */
    Lane(Path directory, long segmentBytes) {
        this.directory = directory;
        this.segmentBytes = segmentBytes;
        try {
            Files.createDirectories(directory);
            try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, "*" + Segment.SUFFIX)) {
                for (Path file : files) {
                    Segment segment = Segment.open(file);
                    segments.put(segment.id(), segment);
                }
            }
            ackFile = FileChannel.open(
                    directory.resolve("acked"),
                    StandardOpenOption.CREATE,
                    StandardOpenOption.READ,
                    StandardOpenOption.WRITE);
        } catch (IOException | RuntimeException failed) {
            broken(failed);
        }
        this.acked = readAck();
        this.nextId = Math.max(acked.segment(), segments.isEmpty() ? 0 : segments.lastKey()) + 1;
        this.read = acked;
        forget();
    }

    boolean hasUnread() {
        return peek().isPresent();
    }

    /** Bytes that wait, those in memory included. */
    long bytes() {
        return segments.values().stream().mapToLong(Segment::size).sum() + memoryBytes;
    }

    boolean diskBroken() {
        return diskBroken;
    }

    /** Appends; returns records that had to go because even memory is full. */
    List<byte[]> append(byte[] record) {
        if (memory.isEmpty() && toDisk(record)) {
            return List.of();
        }
        memory.add(record);
        memoryBytes += record.length;
        var dropped = new ArrayList<byte[]>();
        while (memoryBytes > MEMORY_BYTES && memory.size() > 1) {
            dropped.add(forgetOneInMemory());
        }
        return dropped;
    }

    private boolean toDisk(byte[] record) {
        try {
            Segment end = tail;
            if (end == null || end.size() >= segmentBytes) {
                if (end != null) {
                    end.force();
                }
                end = Segment.create(directory, nextId);
                segments.put(nextId, end);
                nextId++;
                tail = end;
            }
            end.append(record);
            if (diskBroken) {
                LOG.atInfo().addKeyValue("directory", directory).log("the outbox can be written again");
            }
            diskBroken = false;
            return true;
        } catch (IOException | RuntimeException failed) {
            broken(failed);
            return false;
        }
    }

    private void broken(Exception failed) {
        if (!diskBroken) {
            LOG.atWarn()
                    .addKeyValue("directory", directory)
                    .addKeyValue("error", failed.toString())
                    .log("the outbox can not be written, events wait in memory; free or repair the disk");
        }
        diskBroken = true;
    }

    /** The next record that was not read. */
    Optional<Item> next() {
        Optional<Item> item = peek();
        item.ifPresent(found -> {
            read = found.after();
            if (found.after().inMemory()) {
                memoryRead++;
            }
        });
        return item;
    }

    private Optional<Item> peek() {
        for (Segment segment :
                List.copyOf(segments.tailMap(read.segment(), true).values())) {
            long offset = segment.id() == read.segment() ? read.offset() : 0;
            try {
                Optional<byte[]> record = segment.read(offset);
                if (record.isPresent()) {
                    return Optional.of(
                            new Item(record.get(), new Position(segment.id(), Segment.after(offset, record.get()))));
                }
            } catch (IOException unreadable) {
                broken(unreadable);
            }
        }
        return memory.stream()
                .skip(memoryRead)
                .findFirst()
                .map(record -> new Item(record, new Position(Long.MAX_VALUE, memoryFirst + memoryRead + 1)));
    }

    /** Everything before the place is settled. */
    void acknowledge(Position place) {
        if (place.compareTo(acked) <= 0) {
            return;
        }
        if (place.inMemory()) {
            while (memoryFirst < place.offset() && !memory.isEmpty()) {
                forgetOneInMemory();
            }
        }
        acked = place.inMemory() && !segments.isEmpty()
                ? new Position(
                        segments.lastKey(), segments.lastEntry().getValue().size())
                : place.inMemory() ? acked : place;
        if (memory.isEmpty() && read.inMemory()) {
            read = acked;
        }
        forget();
        writeAck();
    }

    /** Reads on from what is not acknowledged. */
    void rewind() {
        read = acked;
        memoryRead = 0;
    }

    /** Gives up the oldest segment; its records that were not acknowledged. Empty when there is nothing to give. */
    Collection<byte[]> dropOldest() {
        var dropped = new ArrayList<byte[]>();
        if (segments.isEmpty()) {
            return dropped;
        }
        Segment oldest = segments.firstEntry().getValue();
        long offset = acked.segment() == oldest.id() ? acked.offset() : 0;
        try {
            for (Optional<byte[]> record = oldest.read(offset); record.isPresent(); record = oldest.read(offset)) {
                dropped.add(record.get());
                offset = Segment.after(offset, record.get());
            }
        } catch (IOException unreadable) {
            broken(unreadable);
        }
        acked = new Position(oldest.id() + 1, 0);
        read = read.compareTo(acked) < 0 ? acked : read;
        forget();
        writeAck();
        return dropped;
    }

    private byte[] forgetOneInMemory() {
        byte[] first = memory.remove();
        memoryBytes -= first.length;
        memoryFirst++;
        memoryRead = Math.max(0, memoryRead - 1);
        return first;
    }

    /** Deletes segments that are settled whole. */
    private void forget() {
        while (!segments.isEmpty()) {
            Segment oldest = segments.firstEntry().getValue();
            boolean passed = oldest.id() < acked.segment();
            boolean full = oldest.id() == acked.segment()
                    && acked.offset() >= oldest.size()
                    && (oldest != tail || oldest.size() >= segmentBytes);
            if (!passed && !full) {
                return;
            }
            segments.remove(oldest.id());
            if (oldest == tail) {
                tail = null;
            }
            try {
                oldest.delete();
            } catch (IOException failed) {
                broken(failed);
            }
        }
    }

    private Position readAck() {
        var start = new Position(segments.isEmpty() ? 0 : segments.firstKey(), 0);
        FileChannel file = ackFile;
        if (file == null) {
            return start;
        }
        try {
            ByteBuffer buffer = ByteBuffer.allocate(ACK_BYTES);
            if (file.read(buffer, 0) == ACK_BYTES) {
                buffer.flip();
                var kept = new Position(buffer.getLong(), buffer.getLong());
                return buffer.getInt() == checksum(kept) && kept.compareTo(start) > 0 ? kept : start;
            }
        } catch (IOException unreadable) {
            broken(unreadable);
        }
        return start;
    }

    private void writeAck() {
        FileChannel file = ackFile;
        if (file == null) {
            return;
        }
        try {
            file.write(
                    ByteBuffer.allocate(ACK_BYTES)
                            .putLong(acked.segment())
                            .putLong(acked.offset())
                            .putInt(checksum(acked))
                            .flip(),
                    0);
        } catch (IOException failed) {
            broken(failed);
        }
    }

    private static int checksum(Position place) {
        var crc = new CRC32C();
        crc.update(ByteBuffer.allocate(16)
                .putLong(place.segment())
                .putLong(place.offset())
                .flip());
        return (int) crc.getValue();
    }

    /** Brings to the disk what the page cache has; from any thread. */
    void force() throws IOException {
        Segment end = tail;
        if (end != null) {
            end.force();
        }
    }

    @Override
    public void close() throws IOException {
        for (Segment segment : segments.values()) {
            segment.close();
        }
    }
}
