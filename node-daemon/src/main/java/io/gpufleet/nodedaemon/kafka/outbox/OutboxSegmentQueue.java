package io.gpufleet.nodedaemon.kafka.outbox;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A persistent queue of records in segment files. Acknowledged segments are deleted. While the disk cannot be written,
 * records are kept in memory up to a limit, and move to the disk once it can be written again. Not thread-safe, except
 * {@link #force}.
 */
public final class OutboxSegmentQueue implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(OutboxSegmentQueue.class);
    /** After so many failed reads a segment is skipped; a sender reads at least twice a second. */
    private static final int MAX_READ_ATTEMPTS = 100;

    private final Path directory;
    private final LogSegments segments;
    private final AckedPositionFile ackFile;
    private final MemoryFallbackQueue memory = new MemoryFallbackQueue();
    private final TreeMap<Long, QueuePosition> movedToDisk = new TreeMap<>();
    private QueuePosition read = new QueuePosition(0, 0);
    private QueuePosition acked = new QueuePosition(0, 0);
    private QueuePosition furthest = new QueuePosition(0, 0);
    private boolean loaded;
    private boolean diskBroken;
    private int unreadable;
    private int readAttempts;
    private long failures;

    /** A record and the position after it. */
    record QueuedRecord(byte[] record, QueuePosition after) {}

    private record PeekedRecord(QueuedRecord item, int skipped) {}

    /** Opens the segments of earlier starts; new records go to a new segment. */
    OutboxSegmentQueue(OutboxDisk disk, Path directory, long segmentBytes) {
        this.directory = directory;
        this.segments = new LogSegments(disk, directory, segmentBytes);
        this.ackFile = new AckedPositionFile(disk, directory);
        boolean _ = isLoaded();
    }

    /** Loads the segments if that has not succeeded yet; not while records are read from memory, to keep the order. */
    private boolean isLoaded() {
        if (loaded || read.inMemory()) {
            return loaded;
        }
        try {
            unreadable += segments.load();
            loaded = true;
            acked = readAck();
            read = acked;
            segments.startAfter(acked.segment());
            deleteAcknowledged();
        } catch (IOException | RuntimeException failed) {
            diskFailed(failed);
        }
        return loaded;
    }

    /** Whether records are left to read; true also if the disk cannot be read. */
    boolean hasUnread() {
        try {
            return peek().isPresent();
        } catch (IOException failed) {
            return true;
        }
    }

    /** Bytes on disk and in memory. */
    long bytes() {
        return segments.bytes() + memory.bytes();
    }

    boolean diskBroken() {
        return diskBroken;
    }

    /** Whether records have to be dropped: the disk cannot be written and memory is full. */
    boolean isMemoryFull() {
        return memory.isFull();
    }

    /** Whether the disk cannot be written because it is full, so that deleting segments helps. */
    boolean isDiskFull() {
        return diskBroken && segments.isFull();
    }

    /** Appends a record, in memory if the disk cannot be written. */
    void append(byte[] record) {
        flush();
        if (!memory.isEmpty() || !appendToDisk(record)) {
            memory.add(record);
        }
    }

    /** Moves records from memory to the disk, as far as it can be written. */
    void flush() {
        while (!memory.isEmpty()) {
            QueuePosition before = segments.end(acked);
            if (!memory.first().map(this::appendToDisk).orElse(false)) {
                return;
            }
            if (read.equals(QueuePosition.inMemory(memory.removedCount()))) {
                read = before;
            }
            memory.remove();
            QueuePosition after = segments.end(acked);
            movedToDisk.put(memory.removedCount(), after);
            if (read.equals(QueuePosition.inMemory(memory.removedCount()))) {
                read = after;
            }
        }
    }

    private boolean appendToDisk(byte[] record) {
        if (!isLoaded()) {
            return false;
        }
        try {
            segments.append(record);
            if (diskBroken && shouldLog()) {
                LOG.atInfo().addKeyValue("directory", directory).log("outbox writable again");
            }
            diskBroken = false;
            return true;
        } catch (IOException | RuntimeException failed) {
            diskFailed(failed);
            return false;
        }
    }

    private void diskFailed(Exception failed) {
        failures += diskBroken ? 0 : 1;
        if (!diskBroken && shouldLog()) {
            LOG.atWarn()
                    .addKeyValue("directory", directory)
                    .addKeyValue("error", failed.toString())
                    .log("outbox cannot be written, events wait in memory; free or repair the disk");
        }
        diskBroken = true;
    }

    /** Logs the 1st, 2nd, 4th, 8th … failure: on an almost full disk writes fail and succeed by turns. */
    private boolean shouldLog() {
        return Long.bitCount(failures) == 1;
    }

    /** The next unread record; empty also while the disk cannot be read. */
    Optional<QueuedRecord> next() {
        try {
            Optional<PeekedRecord> next = peek();
            next.ifPresent(this::advance);
            return next.map(PeekedRecord::item);
        } catch (IOException failed) {
            diskFailed(failed);
            readAttempts++;
            if (readAttempts > MAX_READ_ATTEMPTS) {
                segments.from(read.segment()).stream()
                        .findFirst()
                        .ifPresent(segment -> read = new QueuePosition(segment.id() + 1, 0));
                readAttempts = 0;
                unreadable++;
            }
            return Optional.empty();
        }
    }

    private void advance(PeekedRecord next) {
        readAttempts = 0;
        read = next.item().after();
        if (read.compareTo(furthest) > 0) {
            furthest = read.inMemory() ? furthest : read;
            unreadable += next.skipped();
        }
    }

    private Optional<PeekedRecord> peek() throws IOException {
        int skipped = 0;
        for (LogSegment segment : segments.from(read.segment())) {
            long offset = segment.id() == read.segment() ? read.offset() : 0;
            Optional<LogSegment.SegmentRecord> found = segment.read(offset);
            if (found.isPresent()) {
                LogSegment.SegmentRecord record = found.get();
                return Optional.of(new PeekedRecord(
                        new QueuedRecord(record.record(), new QueuePosition(segment.id(), record.after())),
                        skipped + (record.clean() ? 0 : 1)));
            }
            skipped += offset < segment.size() ? 1 : 0;
        }
        int passed = skipped;
        long number = read.inMemory() ? Math.max(read.offset(), memory.removedCount()) : memory.removedCount();
        return memory.after(number)
                .map(record -> new PeekedRecord(new QueuedRecord(record, QueuePosition.inMemory(number + 1)), passed));
    }

    /** Number of unreadable ranges since the last call; each held at least one record. */
    int takeUnreadable() {
        int was = unreadable;
        unreadable = 0;
        return was;
    }

    /** Acknowledges every record before the position. */
    void acknowledge(QueuePosition position) {
        QueuePosition onDisk = position.inMemory() ? acknowledgeInMemory(position.offset()) : position;
        if (onDisk.compareTo(acked) > 0) {
            acked = onDisk;
            deleteAcknowledged();
            writeAck();
        }
        if (read.inMemory() && memory.isEmpty()) {
            read = acked;
        }
    }

    /** Acknowledges records in memory and returns the position on disk up to which all is acknowledged. */
    private QueuePosition acknowledgeInMemory(long number) {
        if (number > memory.removedCount()) {
            movedToDisk.clear();
            while (memory.removedCount() < number && !memory.isEmpty()) {
                memory.remove();
            }
            return segments.end(acked);
        }
        var onDisk = movedToDisk.floorEntry(number);
        movedToDisk.headMap(number, true).clear();
        return onDisk == null ? acked : onDisk.getValue();
    }

    /** Restarts reading at the first unacknowledged record; earlier positions must not be acknowledged afterwards. */
    void rewind() {
        read = acked;
        movedToDisk.clear();
    }

    /**
     * Deletes the oldest segment and returns its unacknowledged records. Empty if there is no segment, or if it cannot be
     * read, since the lost records would be unknown.
     */
    Optional<List<byte[]>> dropOldest() {
        return segments.oldest().flatMap(this::drop);
    }

    private Optional<List<byte[]>> drop(LogSegment oldest) {
        var dropped = new ArrayList<byte[]>();
        long offset = acked.segment() == oldest.id() ? acked.offset() : 0;
        try {
            for (var found = oldest.read(offset); found.isPresent(); found = oldest.read(offset)) {
                dropped.add(found.get().record());
                offset = found.get().after();
            }
        } catch (IOException failed) {
            diskFailed(failed);
            return Optional.empty();
        }
        acked = new QueuePosition(oldest.id() + 1, 0);
        read = read.compareTo(acked) < 0 ? acked : read;
        deleteAcknowledged();
        writeAck();
        return Optional.of(dropped);
    }

    /** Drops the oldest record in memory and returns it. */
    byte[] dropOldestInMemory() {
        if (read.equals(QueuePosition.inMemory(memory.removedCount()))) {
            read = QueuePosition.inMemory(memory.removedCount() + 1);
        }
        return memory.remove();
    }

    /** Deletes segments whose records are all acknowledged. */
    private void deleteAcknowledged() {
        try {
            segments.deleteAcknowledged(acked);
        } catch (IOException failed) {
            diskFailed(failed);
        }
    }

    private QueuePosition readAck() {
        QueuePosition start = segments.start();
        try {
            return ackFile.read().filter(saved -> saved.compareTo(start) > 0).orElse(start);
        } catch (IOException failed) {
            diskFailed(failed);
            return start;
        }
    }

    private void writeAck() {
        try {
            ackFile.write(acked);
        } catch (IOException | RuntimeException failed) {
            diskFailed(failed);
        }
    }

    /** Flushes the page cache to the disk; thread-safe. */
    void force() throws IOException {
        segments.force();
    }

    @Override
    public void close() throws IOException {
        segments.close();
        ackFile.close();
    }
}
