package io.gpufleet.nodedaemon.kafka;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A queue of records in a row of segment files: appended at the end, read on, forgotten from the front once acknowledged.
 * Where the disk refuses, records wait in memory instead, as many as fit, and move to the disk once it takes them. One
 * thread, except {@link #force}.
 */
final class Lane implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Lane.class);
    /** A segment that can not be read after so many tries is passed over; a sender tries twice a second at least. */
    private static final int MOST_TRIES = 100;

    private final Path directory;
    private final SegmentRow segments;
    private final AckFile ackFile;
    private final MemoryQueue memory = new MemoryQueue();
    private final TreeMap<Long, Position> moved = new TreeMap<>();
    private Position read = new Position(0, 0);
    private Position acked = new Position(0, 0);
    private Position furthest = new Position(0, 0);
    private boolean loaded;
    private boolean diskBroken;
    private int unreadable;
    private int tries;
    private long failures;

    /**
     * A place in the lane.
     *
     * @param segment segment number; {@link Long#MAX_VALUE} for records in memory
     * @param offset byte offset in the segment, or number of the record in memory
     */
    record Position(long segment, long offset) implements Comparable<Position> {
        private static final Comparator<Position> ORDER =
                Comparator.comparingLong(Position::segment).thenComparingLong(Position::offset);

        static Position inMemory(long number) {
            return new Position(Long.MAX_VALUE, number);
        }

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

    private record Peek(Item item, int skipped) {}

    /** Opens what an earlier start left; new records go to a new segment. */
    Lane(Disk disk, Path directory, long segmentBytes) {
        this.directory = directory;
        this.segments = new SegmentRow(disk, directory, segmentBytes);
        this.ackFile = new AckFile(disk, directory);
        boolean _ = isLoaded();
    }

    /** Tried until it succeeds, though not while a record in memory is under way: older ones would come behind it. */
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
            forget();
        } catch (IOException | RuntimeException failed) {
            broken(failed);
        }
        return loaded;
    }

    /** Also true where the disk does not let us look. */
    boolean hasUnread() {
        try {
            return peek().isPresent();
        } catch (IOException failed) {
            return true;
        }
    }

    /** Bytes that wait, those in memory included. */
    long bytes() {
        return segments.bytes() + memory.bytes();
    }

    boolean diskBroken() {
        return diskBroken;
    }

    /** Whether something has to be dropped, since the disk refuses and memory is full. */
    boolean isMemoryFull() {
        return memory.isFull();
    }

    /** Whether the disk refuses because it is full, so that giving up segments would help. */
    boolean isDiskFull() {
        return diskBroken && segments.isFull();
    }

    /** Appends; to memory where the disk refuses. */
    void append(byte[] record) {
        flush();
        if (!memory.isEmpty() || !toDisk(record)) {
            memory.add(record);
        }
    }

    /** Moves to the disk what waits in memory, as far as the disk takes it. */
    void flush() {
        while (!memory.isEmpty()) {
            Position before = segments.end(acked);
            if (!memory.first().map(this::toDisk).orElse(false)) {
                return;
            }
            if (read.equals(Position.inMemory(memory.gone()))) {
                read = before;
            }
            memory.remove();
            Position after = segments.end(acked);
            moved.put(memory.gone(), after);
            if (read.equals(Position.inMemory(memory.gone()))) {
                read = after;
            }
        }
    }

    private boolean toDisk(byte[] record) {
        if (!isLoaded()) {
            return false;
        }
        try {
            segments.append(record);
            if (diskBroken && isWorthALine()) {
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
        failures += diskBroken ? 0 : 1;
        if (!diskBroken && isWorthALine()) {
            LOG.atWarn()
                    .addKeyValue("directory", directory)
                    .addKeyValue("error", failed.toString())
                    .log("the outbox can not be used as it should, events wait in memory; free or repair the disk");
        }
        diskBroken = true;
    }

    /** A disk that is full to the brim refuses and takes by turns: the first time is told, then ever more seldom. */
    private boolean isWorthALine() {
        return Long.bitCount(failures) == 1;
    }

    /** The next record that was not read; empty also while the disk does not give it out. */
    Optional<Item> next() {
        try {
            Optional<Peek> next = peek();
            next.ifPresent(this::pass);
            return next.map(Peek::item);
        } catch (IOException failed) {
            broken(failed);
            tries++;
            if (tries > MOST_TRIES) {
                segments.from(read.segment()).stream()
                        .findFirst()
                        .ifPresent(segment -> read = new Position(segment.id() + 1, 0));
                tries = 0;
                unreadable++;
            }
            return Optional.empty();
        }
    }

    private void pass(Peek next) {
        tries = 0;
        read = next.item().after();
        if (read.compareTo(furthest) > 0) {
            furthest = read.inMemory() ? furthest : read;
            unreadable += next.skipped();
        }
    }

    private Optional<Peek> peek() throws IOException {
        int skipped = 0;
        for (Segment segment : segments.from(read.segment())) {
            long offset = segment.id() == read.segment() ? read.offset() : 0;
            Optional<Segment.Found> found = segment.read(offset);
            if (found.isPresent()) {
                Segment.Found record = found.get();
                return Optional.of(new Peek(
                        new Item(record.record(), new Position(segment.id(), record.after())),
                        skipped + (record.clean() ? 0 : 1)));
            }
            skipped += offset < segment.size() ? 1 : 0;
        }
        int passed = skipped;
        long number = read.inMemory() ? Math.max(read.offset(), memory.gone()) : memory.gone();
        return memory.after(number).map(record -> new Peek(new Item(record, Position.inMemory(number + 1)), passed));
    }

    /** How many stretches could not be read since this was last asked; each held at least one record. */
    int takeUnreadable() {
        int was = unreadable;
        unreadable = 0;
        return was;
    }

    /** Everything before the place is settled. */
    void acknowledge(Position place) {
        Position settled = place.inMemory() ? acknowledgeInMemory(place.offset()) : place;
        if (settled.compareTo(acked) > 0) {
            acked = settled;
            forget();
            writeAck();
        }
        if (read.inMemory() && memory.isEmpty()) {
            read = acked;
        }
    }

    /** The place on the disk up to which everything is settled with it. */
    private Position acknowledgeInMemory(long number) {
        if (number > memory.gone()) {
            moved.clear();
            while (memory.gone() < number && !memory.isEmpty()) {
                memory.remove();
            }
            return segments.end(acked);
        }
        var onDisk = moved.floorEntry(number);
        moved.headMap(number, true).clear();
        return onDisk == null ? acked : onDisk.getValue();
    }

    /** Reads on from what is not acknowledged; no place from before may be acknowledged afterwards. */
    void rewind() {
        read = acked;
        moved.clear();
    }

    /**
     * Gives up the oldest segment; its records that were not acknowledged. Empty where there is no segment, and where it
     * can not be read: nobody could tell then what is lost.
     */
    Optional<List<byte[]>> dropOldest() {
        return segments.oldest().flatMap(this::drop);
    }

    private Optional<List<byte[]>> drop(Segment oldest) {
        var dropped = new ArrayList<byte[]>();
        long offset = acked.segment() == oldest.id() ? acked.offset() : 0;
        try {
            for (var found = oldest.read(offset); found.isPresent(); found = oldest.read(offset)) {
                dropped.add(found.get().record());
                offset = found.get().after();
            }
        } catch (IOException failed) {
            broken(failed);
            return Optional.empty();
        }
        acked = new Position(oldest.id() + 1, 0);
        read = read.compareTo(acked) < 0 ? acked : read;
        forget();
        writeAck();
        return Optional.of(dropped);
    }

    /** Gives up the oldest record in memory. */
    byte[] dropOldestInMemory() {
        if (read.equals(Position.inMemory(memory.gone()))) {
            read = Position.inMemory(memory.gone() + 1);
        }
        return memory.remove();
    }

    /** Deletes segments that are settled whole. */
    private void forget() {
        try {
            segments.forget(acked);
        } catch (IOException failed) {
            broken(failed);
        }
    }

    private Position readAck() {
        Position start = segments.start();
        try {
            return ackFile.read().filter(kept -> kept.compareTo(start) > 0).orElse(start);
        } catch (IOException failed) {
            broken(failed);
            return start;
        }
    }

    private void writeAck() {
        try {
            ackFile.write(acked);
        } catch (IOException | RuntimeException failed) {
            broken(failed);
        }
    }

    /** Brings to the disk what the page cache has; from any thread. */
    void force() throws IOException {
        segments.force();
    }

    @Override
    public void close() throws IOException {
        segments.close();
        ackFile.close();
    }
}
