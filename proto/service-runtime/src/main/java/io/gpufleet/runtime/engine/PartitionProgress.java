package io.gpufleet.runtime.engine;

import io.gpufleet.runtime.projection.Progress;
import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;
import org.apache.kafka.common.TopicPartition;

/**
 * Since when each input partition is read to its end, judged on the ends that a probe found after this was made. An end that
 * is reached counts at once; a partition is behind when its end is not reached after a second.
 */
final class PartitionProgress implements Progress {
    private static final long SETTLE_NANOS = Duration.ofSeconds(1).toNanos();
    private static final long PAUSE_NANOS = Duration.ofSeconds(5).toNanos();
    private static final long STALE_NANOS = Duration.ofSeconds(10).toNanos();

    private final EngineParts<?> parts;
    private final List<TopicPartition> partitions;
    private final Map<TopicPartition, Instant> since = new HashMap<>();
    /** The ends that are judged next; newer ones wait, so that a probe that asks often defers no judgement. */
    private BrokerProbe.Ends pending;

    private long judgedNanos;
    private long updatedNanos;
    private long lag = ProjectionCounters.UNKNOWN;

    PartitionProgress(EngineParts<?> parts, List<TopicPartition> partitions) {
        this.parts = parts;
        this.partitions = partitions;
        this.updatedNanos = parts.clients().nanos();
        this.judgedNanos = updatedNanos;
        this.pending = new BrokerProbe.Ends(Map.of(), updatedNanos);
    }

    /** Compares positions with the ends of a probe that is old enough to have been reached. */
    void update(BrokerProbe.Ends ends, ToLongFunction<TopicPartition> position, long nanos, Instant now) {
        long age = nanos - ends.atNanos();
        // After a pause of this process the ends may be new while what was appended meanwhile is not read.
        boolean paused = nanos - updatedNanos > PAUSE_NANOS;
        updatedNanos = nanos;
        if (paused || age > STALE_NANOS) {
            since.clear();
            lag = ProjectionCounters.UNKNOWN;
            // What was reached of ends from before the pause says nothing now.
            judgedNanos += Math.max(0, pending.atNanos() - judgedNanos);
            return;
        }
        if (ends.atNanos() - judgedNanos <= 0) {
            return;
        }
        if (pending.atNanos() - judgedNanos <= 0) {
            pending = ends;
        }
        if (age < SETTLE_NANOS) {
            partitions.stream()
                    .filter(partition -> behind(partition, ends, position) <= 0)
                    .forEach(partition -> since.putIfAbsent(partition, now.minusNanos(age)));
        }
        if (nanos - pending.atNanos() >= SETTLE_NANOS) {
            judge(position, now.minusNanos(nanos - pending.atNanos()));
        }
    }

    private void judge(ToLongFunction<TopicPartition> position, Instant asked) {
        judgedNanos = pending.atNanos();
        lag = pending.offsets().isEmpty() ? ProjectionCounters.UNKNOWN : 0;
        for (TopicPartition partition : partitions) {
            long behind = behind(partition, pending, position);
            if (behind <= 0) {
                since.putIfAbsent(partition, asked);
            } else {
                since.remove(partition);
                lag += behind == Long.MAX_VALUE ? 0 : behind;
            }
        }
    }

    /** Records that are not read; no end is known of a partition without a leader. */
    private static long behind(
            TopicPartition partition, BrokerProbe.Ends ends, ToLongFunction<TopicPartition> position) {
        Long end = ends.offsets().get(partition);
        return end == null ? Long.MAX_VALUE : end - position.applyAsLong(partition);
    }

    /** Records that waited to be read at the last comparison, without partitions that have no leader. */
    long lag() {
        return lag;
    }

    @Override
    public Duration caughtUpFor(Topic topic, String key, Instant now) {
        Instant from = since.get(new TopicPartition(parts.codec().topics().name(topic), topic.partitionOf(key)));
        return from == null || now.isBefore(from) ? Duration.ZERO : Duration.between(from, now);
    }

    @Override
    public boolean caughtUp(Instant now) {
        return since.size() == partitions.size();
    }
}
