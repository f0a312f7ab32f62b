package io.gpufleet.nodedaemon.kafka.outbox;

import java.util.Comparator;

/**
 * A position in an {@link OutboxSegmentQueue}. Positions in memory come after all positions on disk.
 *
 * @param segment segment number; {@link Long#MAX_VALUE} for records in memory
 * @param offset byte offset in the segment, or number of the record in memory
 */
public record QueuePosition(long segment, long offset) implements Comparable<QueuePosition> {
    private static final Comparator<QueuePosition> ORDER =
            Comparator.comparingLong(QueuePosition::segment).thenComparingLong(QueuePosition::offset);

    static QueuePosition inMemory(long number) {
        return new QueuePosition(Long.MAX_VALUE, number);
    }

    boolean inMemory() {
        return segment == Long.MAX_VALUE;
    }

    @Override
    public int compareTo(QueuePosition other) {
        return ORDER.compare(this, other);
    }
}
