package io.gpufleet.nodedaemon.kafka.outbox;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/** The segment files of one directory, oldest first. Records are appended to the newest; a full segment is rolled. */
final class LogSegments implements AutoCloseable {
    private final OutboxDisk disk;
    private final Path directory;
    private final long segmentBytes;
    private final TreeMap<Long, LogSegment> segments = new TreeMap<>();
    /** Segments of earlier starts, possibly not flushed to the disk. */
    private final Queue<LogSegment> recovered = new ConcurrentLinkedQueue<>();

    private volatile @Nullable LogSegment tail;
    private long nextId = 1;

    LogSegments(OutboxDisk disk, Path directory, long segmentBytes) {
        this.disk = disk;
        this.directory = directory;
        this.segmentBytes = segmentBytes;
    }

    /**
     * Opens the segments of earlier starts and returns how many files could not be opened; these are skipped. Throws if
     * the directory cannot be read, and may then be called again.
     */
    int load() throws IOException {
        int unreadable = 0;
        Files.createDirectories(directory);
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, "*" + LogSegment.SUFFIX)) {
            for (Path file : files) {
                OptionalLong id = LogSegment.id(file);
                if (id.isPresent() && !segments.containsKey(id.getAsLong())) {
                    nextId = Math.max(nextId, id.getAsLong() + 1);
                    unreadable += open(file, id.getAsLong()) ? 0 : 1;
                }
            }
        }
        if (unreadable > 0) {
            // Creating a segment fails if the whole disk is broken; then those files may be intact and are tried again.
            roll();
        }
        return unreadable;
    }

    private boolean open(Path file, long id) {
        try {
            LogSegment segment = LogSegment.open(disk, file, id);
            segments.put(id, segment);
            recovered.add(segment);
            return true;
        } catch (IOException unreadable) {
            return false;
        }
    }

    private LogSegment roll() throws IOException {
        LogSegment fresh = LogSegment.create(disk, directory, nextId);
        segments.put(nextId, fresh);
        nextId++;
        tail = fresh;
        return fresh;
    }

    /** Makes new segments start above this number. */
    void startAfter(long id) {
        nextId = Math.max(nextId, id + 1);
    }

    long bytes() {
        return segments.values().stream().mapToLong(LogSegment::size).sum();
    }

    /** The position after the last record; {@code otherwise} if there is no segment. */
    QueuePosition end(QueuePosition otherwise) {
        return segments.isEmpty()
                ? otherwise
                : new QueuePosition(
                        segments.lastKey(), segments.lastEntry().getValue().size());
    }

    QueuePosition start() {
        return new QueuePosition(segments.isEmpty() ? 0 : segments.firstKey(), 0);
    }

    Collection<LogSegment> from(long id) {
        return List.copyOf(segments.tailMap(id, true).values());
    }

    Optional<LogSegment> oldest() {
        return segments.isEmpty()
                ? Optional.empty()
                : Optional.of(segments.firstEntry().getValue());
    }

    void append(byte[] record) throws IOException {
        LogSegment end = tail;
        if (end == null || end.size() >= segmentBytes) {
            if (end != null) {
                end.force();
            }
            end = roll();
        }
        end.append(record);
    }

    /** Deletes segments whose records are all acknowledged. */
    void deleteAcknowledged(QueuePosition acked) throws IOException {
        IOException failure = null;
        while (!segments.isEmpty() && isAcknowledged(segments.firstEntry().getValue(), acked)) {
            LogSegment oldest = segments.firstEntry().getValue();
            segments.remove(oldest.id());
            if (oldest == tail) {
                tail = null;
            }
            try {
                oldest.delete();
            } catch (IOException failed) {
                failure = failed;
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    private boolean isAcknowledged(LogSegment segment, QueuePosition acked) {
        boolean ended = segment != tail || segment.size() >= segmentBytes;
        return segment.id() < acked.segment()
                || (segment.id() == acked.segment() && acked.offset() >= segment.size() && ended);
    }

    /** Whether the file system has no space for another segment. */
    boolean isFull() {
        try {
            return Files.getFileStore(directory).getUsableSpace() < segmentBytes;
        } catch (IOException unknown) {
            return false;
        }
    }

    /** Flushes the page cache to the disk; thread-safe. */
    void force() throws IOException {
        for (LogSegment segment = recovered.poll(); segment != null; segment = recovered.poll()) {
            segment.force();
        }
        LogSegment end = tail;
        if (end != null) {
            end.force();
        }
    }

    @Override
    public void close() throws IOException {
        for (LogSegment segment : segments.values()) {
            segment.close();
        }
    }
}
