package io.gpufleet.nodedaemon.kafka.outbox;

import java.util.ArrayDeque;
import java.util.Optional;

/** Records that could not be written to the disk, numbered from 1 in the order of arrival. */
final class MemoryFallbackQueue {
    private static final int MAX_BYTES = 1024 * 1024;

    private final ArrayDeque<byte[]> records = new ArrayDeque<>();
    private long removedCount;
    private int bytes;

    void add(byte[] record) {
        records.add(record);
        bytes += record.length;
    }

    boolean isEmpty() {
        return records.isEmpty();
    }

    int bytes() {
        return bytes;
    }

    /** Whether the oldest record has to be dropped; the newest record is always kept. */
    boolean isFull() {
        return bytes > MAX_BYTES && records.size() > 1;
    }

    /** Number of the record removed last; the first record has the next number. */
    long removedCount() {
        return removedCount;
    }

    Optional<byte[]> first() {
        return Optional.ofNullable(records.peek());
    }

    /** The first record in the queue with a greater number. */
    Optional<byte[]> after(long number) {
        return records.stream().skip(Math.max(0, number - removedCount)).findFirst();
    }

    /** Removes the first record. */
    byte[] remove() {
        byte[] first = records.remove();
        bytes -= first.length;
        removedCount++;
        return first;
    }
}
