package io.gpufleet.runtime.order;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.ToLongFunction;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;

/**
 * Hands out polled records in the order of their append times, among the input partitions of one number: what all topics say of a
 * key. A partition that has nothing more, or that does not deliver, holds no other back. Of each partition no more is held than
 * one poll returns, if those that {@link #held} names are paused.
 */
public final class InputOrder {
    /** Append time by which a record may be ahead of what an awaited partition of its number delivered last. */
    static final Duration LEAD = Duration.ofSeconds(1);
    /** Age up to which an answer about the ends is as good as a new one; nobody is more ahead than that because of it. */
    static final Duration FRESH = Duration.ofSeconds(10);
    /** Longest wait for a partition that has records, while none of them arrive. */
    static final Duration PATIENCE = Duration.ofSeconds(10);
    /** Polls within that wait, which are rare while the records of one take seconds to apply. */
    static final int PATIENT_POLLS = 20;

    private final Map<TopicPartition, OrderedPartition> partitions = new LinkedHashMap<>();
    private final List<PartitionGroup> groups;
    private int first;
    private long sinceNanos;
    private long comparedNanos;
    private boolean endsKnown;

    /**
     * Holds nothing yet.
     *
     * @param ordered partitions whose records are ordered among those of the same number
     * @param unordered partitions that neither wait nor are waited for
     */
    public InputOrder(Collection<TopicPartition> ordered, Collection<TopicPartition> unordered, long nanos) {
        this.sinceNanos = nanos;
        this.comparedNanos = nanos;
        int numbers = numbers(ordered);
        Map<Integer, PartitionGroup> byNumber = new LinkedHashMap<>();
        ordered.forEach(partition ->
                join(partition, byNumber.computeIfAbsent(partition.partition() % numbers, _ -> new PartitionGroup())));
        this.groups = new ArrayList<>(byNumber.values());
        unordered.forEach(partition -> {
            var alone = new PartitionGroup();
            join(partition, alone);
            groups.add(alone);
        });
    }

    private void join(TopicPartition partition, PartitionGroup group) {
        var member = new OrderedPartition();
        partitions.put(partition, member);
        group.add(member);
    }

    /** Topics with more partitions have the keys of one partition of the others in several of theirs. */
    private static int numbers(Collection<TopicPartition> ordered) {
        Map<String, Integer> counts = new HashMap<>();
        ordered.forEach(partition -> counts.merge(partition.topic(), 1, Integer::sum));
        return counts.values().stream().reduce(0, InputOrder::greatestCommonDivisor);
    }

    private static int greatestCommonDivisor(int one, int other) {
        return other == 0 ? one : greatestCommonDivisor(other, one % other);
    }

    /** Takes in records, those of one partition in their order. */
    public void add(Iterable<ConsumerRecord<byte[], byte[]>> polled) {
        for (ConsumerRecord<byte[], byte[]> rec : polled) {
            of(new TopicPartition(rec.topic(), rec.partition())).add(rec);
        }
    }

    /** Forgets held records from an offset on: the log was truncated there. */
    public void drop(TopicPartition partition, long fromOffset) {
        of(partition).dropFrom(fromOffset);
    }

    /**
     * Compares what was polled with the ends of the partitions; needed after each poll.
     *
     * @param ends by partition, without those that have no leader; empty while nothing is known
     * @param endsNanos monotonic time before they were asked for
     * @param polledTo offset behind what was polled of a partition
     */
    public void compare(
            Map<TopicPartition, Long> ends, long endsNanos, ToLongFunction<TopicPartition> polledTo, long nanos) {
        // After a pause of this process much may have been appended that these ends do not show.
        if (nanos - comparedNanos > FRESH.toNanos()) {
            sinceNanos = nanos;
            partitions.values().forEach(OrderedPartition::restartWaiting);
        }
        comparedNanos = nanos;
        boolean known = !ends.isEmpty() && endsNanos - sinceNanos >= -FRESH.toNanos();
        if (known && !endsKnown) {
            partitions.values().forEach(OrderedPartition::restartWaiting);
        }
        endsKnown = known;
        boolean mayHaveMore = !known && nanos - sinceNanos <= PATIENCE.toNanos();
        partitions.forEach((partition, member) -> {
            Long end = ends.get(partition);
            long position = polledTo.applyAsLong(partition);
            if (known && end != null) {
                member.compare(position, end, endsNanos);
            } else {
                member.endIsMissing(position, mayHaveMore);
            }
        });
    }

    /** Records that may be applied now, no more than so many. */
    public List<ConsumerRecord<byte[], byte[]>> take(int most, long nanos) {
        List<ConsumerRecord<byte[], byte[]>> taken = new ArrayList<>();
        int begun = first;
        for (int i = 0; i < groups.size() && taken.size() < most; i++) {
            int at = (begun + i) % groups.size();
            groups.get(at).take(most, nanos, taken);
            // Where there is no room for all, the next ones come first the next time.
            first = taken.size() < most ? begun : (at + 1) % groups.size();
        }
        return taken;
    }

    /** Partitions of which records are held; polling more of them would only take memory. */
    public Set<TopicPartition> held() {
        Set<TopicPartition> held = new HashSet<>();
        partitions.forEach((partition, member) -> {
            if (!member.isEmpty()) {
                held.add(partition);
            }
        });
        return held;
    }

    /** Offset of the first record of a partition that was polled and not handed out. */
    public Optional<Long> firstHeld(TopicPartition partition) {
        return of(partition).head().map(ConsumerRecord::offset);
    }

    private OrderedPartition of(TopicPartition partition) {
        OrderedPartition found = partitions.get(partition);
        if (found == null) {
            throw new IllegalArgumentException(partition + " is not among the inputs");
        }
        return found;
    }
}
