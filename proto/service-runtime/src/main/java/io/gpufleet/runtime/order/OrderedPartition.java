package io.gpufleet.runtime.order;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** Records of one partition that were polled and not handed out, and whether more are to come. */
final class OrderedPartition {
    private final Deque<ConsumerRecord<byte[], byte[]>> held = new ArrayDeque<>();
    /** Append time of the newest record that was polled, in milliseconds. */
    private long newest = Long.MIN_VALUE;

    private long position = -1;
    private boolean behind;
    /** Time of the newest ends that were reached. */
    private long reachedNanos;

    private boolean everReached;
    private long awaitedNanos;
    private int awaitedPolls;
    private boolean awaited;
    private long knownEnd = -1;

    void add(ConsumerRecord<byte[], byte[]> rec) {
        held.addLast(rec);
        newest = Math.max(newest, rec.timestamp());
        awaited = false;
    }

    boolean isEmpty() {
        return held.isEmpty();
    }

    /** The next record to be handed out. */
    Optional<ConsumerRecord<byte[], byte[]>> head() {
        return Optional.ofNullable(held.peekFirst());
    }

    ConsumerRecord<byte[], byte[]> removeHead() {
        return held.removeFirst();
    }

    /** Append time of the next record; of none later than of all others. */
    long headMillis() {
        ConsumerRecord<byte[], byte[]> next = held.peekFirst();
        return next == null ? Long.MAX_VALUE : next.timestamp();
    }

    /** Forgets records that the log no longer has. */
    void dropFrom(long offset) {
        held.removeIf(rec -> rec.offset() >= offset);
    }

    /**
     * Its end was not told, without a leader or in time; what was told before stays true.
     *
     * @param mayHaveMore whether it counts as behind where nothing is known
     */
    void endIsMissing(long polledTo, boolean mayHaveMore) {
        if (knownEnd >= 0) {
            compare(polledTo, knownEnd, reachedNanos);
        } else {
            behind = false;
        }
        behind |= mayHaveMore;
    }

    /** Compares how far it was polled with its end at some time. */
    void compare(long polledTo, long end, long endNanos) {
        knownEnd = end;
        awaitedPolls++;
        if (polledTo != position) {
            position = polledTo;
            awaited = false;
        }
        behind = polledTo < end;
        if (!behind && (!everReached || endNanos - reachedNanos > 0)) {
            everReached = true;
            reachedNanos = endNanos;
        }
    }

    /** Begins to wait anew, after a time in which nothing could arrive. */
    void restartWaiting() {
        awaited = false;
    }

    /**
     * True while it has records that were not polled, and nobody has waited for too long. One that was read to its end a moment
     * ago has nothing that is older than that.
     */
    boolean isAwaited(long nanos) {
        return held.isEmpty()
                && behind
                && !(everReached && nanos - reachedNanos <= InputOrder.FRESH.toNanos())
                && !(awaited
                        && awaitedPolls > InputOrder.PATIENT_POLLS
                        && nanos - awaitedNanos > InputOrder.PATIENCE.toNanos());
    }

    void await(long nanos) {
        if (!awaited) {
            awaited = true;
            awaitedNanos = nanos;
            awaitedPolls = 0;
        }
    }

    /** Append time up to which records of others may be handed out while this one is awaited. */
    long limitMillis() {
        return newest == Long.MIN_VALUE ? newest : newest + InputOrder.LEAD.toMillis();
    }
}
