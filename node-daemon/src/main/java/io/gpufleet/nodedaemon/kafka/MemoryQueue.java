package io.gpufleet.nodedaemon.kafka;

import java.util.ArrayDeque;
import java.util.Optional;

/** Records that the disk did not take, numbered from 1 in the order in which they came. */
final class MemoryQueue {
    private static final int MOST_BYTES = 1024 * 1024;

    private final ArrayDeque<byte[]> records = new ArrayDeque<>();
    private long gone;
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

    /** Whether something has to go; the newest record never does. */
    boolean isFull() {
        return bytes > MOST_BYTES && records.size() > 1;
    }

    /** Number of the record that left last; the next has one more. */
    long gone() {
        return gone;
    }

    Optional<byte[]> first() {
        return Optional.ofNullable(records.peek());
    }

    /** The record after a number, of those that are still here. */
    Optional<byte[]> after(long number) {
        return records.stream().skip(Math.max(0, number - gone)).findFirst();
    }

    /** Takes the first one out. */
    byte[] remove() {
        byte[] first = records.remove();
        bytes -= first.length;
        gone++;
        return first;
    }
}
