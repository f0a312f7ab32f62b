package io.gpufleet.nodedaemon.kafka;

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

/** The segment files of one directory, oldest first; the newest is written, and a full one is followed by another. */
final class SegmentRow implements AutoCloseable {
    private final Disk disk;
    private final Path directory;
    private final long segmentBytes;
    private final TreeMap<Long, Segment> segments = new TreeMap<>();
    /** What an earlier start wrote and perhaps never forced. */
    private final Queue<Segment> inherited = new ConcurrentLinkedQueue<>();

    private volatile @Nullable Segment tail;
    private long nextId = 1;

    SegmentRow(Disk disk, Path directory, long segmentBytes) {
        this.disk = disk;
        this.directory = directory;
        this.segmentBytes = segmentBytes;
    }

    /**
     * Takes up what an earlier start left, and answers how many files can not be opened; those are passed over. Throws
     * where the disk as a whole does not answer, and may then be called again.
     */
    int load() throws IOException {
        int unreadable = 0;
        Files.createDirectories(directory);
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, "*" + Segment.SUFFIX)) {
            for (Path file : files) {
                OptionalLong id = Segment.id(file);
                if (id.isPresent() && !segments.containsKey(id.getAsLong())) {
                    nextId = Math.max(nextId, id.getAsLong() + 1);
                    unreadable += open(file, id.getAsLong()) ? 0 : 1;
                }
            }
        }
        if (unreadable > 0) {
            // Either those files are broken, or nothing works and they may be well.
            begin();
        }
        return unreadable;
    }

    private boolean open(Path file, long id) {
        try {
            Segment segment = Segment.open(disk, file, id);
            segments.put(id, segment);
            inherited.add(segment);
            return true;
        } catch (IOException unreadable) {
            return false;
        }
    }

    private Segment begin() throws IOException {
        Segment fresh = Segment.create(disk, directory, nextId);
        segments.put(nextId, fresh);
        nextId++;
        tail = fresh;
        return fresh;
    }

    /** New segments get numbers above this one. */
    void startAfter(long id) {
        nextId = Math.max(nextId, id + 1);
    }

    long bytes() {
        return segments.values().stream().mapToLong(Segment::size).sum();
    }

    /** The place behind the last record; the given one where there is no segment. */
    Lane.Position end(Lane.Position otherwise) {
        return segments.isEmpty()
                ? otherwise
                : new Lane.Position(
                        segments.lastKey(), segments.lastEntry().getValue().size());
    }

    Lane.Position start() {
        return new Lane.Position(segments.isEmpty() ? 0 : segments.firstKey(), 0);
    }

    Collection<Segment> from(long id) {
        return List.copyOf(segments.tailMap(id, true).values());
    }

    Optional<Segment> oldest() {
        return segments.isEmpty()
                ? Optional.empty()
                : Optional.of(segments.firstEntry().getValue());
    }

    void append(byte[] record) throws IOException {
        Segment end = tail;
        if (end == null || end.size() >= segmentBytes) {
            if (end != null) {
                end.force();
            }
            end = begin();
        }
        end.append(record);
    }

    /** Deletes segments of which nothing is wanted any more. */
    void forget(Lane.Position acked) throws IOException {
        IOException failure = null;
        while (!segments.isEmpty() && isSettled(segments.firstEntry().getValue(), acked)) {
            Segment oldest = segments.firstEntry().getValue();
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

    private boolean isSettled(Segment segment, Lane.Position acked) {
        boolean ended = segment != tail || segment.size() >= segmentBytes;
        return segment.id() < acked.segment()
                || (segment.id() == acked.segment() && acked.offset() >= segment.size() && ended);
    }

    /** Whether the file system has no room for another segment. */
    boolean isFull() {
        try {
            return Files.getFileStore(directory).getUsableSpace() < segmentBytes;
        } catch (IOException unknown) {
            return false;
        }
    }

    /** Brings to the disk what the page cache has; from any thread. */
    void force() throws IOException {
        for (Segment segment = inherited.poll(); segment != null; segment = inherited.poll()) {
            segment.force();
        }
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
