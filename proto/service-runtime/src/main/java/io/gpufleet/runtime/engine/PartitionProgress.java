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

/** Since when each input partition is read to its end, judged on the ends that a probe found at least a second ago. */
final class PartitionProgress implements Progress {
    private static final long SETTLE_NANOS = Duration.ofSeconds(1).toNanos();
    private static final long PAUSE_NANOS = Duration.ofSeconds(5).toNanos();
    private static final long STALE_NANOS = Duration.ofSeconds(10).toNanos();

    private final EngineParts<?> parts;
    private final List<TopicPartition> partitions;
    private final Map<TopicPartition, Instant> since = new HashMap<>();
    private long judgedNanos;
    private long updatedNanos;
    private long lag;

    PartitionProgress(EngineParts<?> parts, List<TopicPartition> partitions) {
        this.parts = parts;
        this.partitions = partitions;
        this.updatedNanos = System.nanoTime();
        this.judgedNanos = updatedNanos - STALE_NANOS;
    }

    /** Compares positions with the ends of a probe that is old enough to have been reached. */
    void update(BrokerProbe.Ends ends, ToLongFunction<TopicPartition> position, long nanos, Instant now) {
        long age = nanos - ends.atNanos();
        // After a pause of this process the ends may be new while what was appended meanwhile is not read.
        boolean paused = nanos - updatedNanos > PAUSE_NANOS;
        updatedNanos = nanos;
        if (paused || age > STALE_NANOS) {
            since.clear();
            return;
        }
        if (age < SETTLE_NANOS || ends.atNanos() - judgedNanos <= 0) {
            return;
        }
        judgedNanos = ends.atNanos();
        lag = 0;
        for (TopicPartition partition : partitions) {
            Long end = ends.offsets().get(partition);
            long behind = end == null ? Long.MAX_VALUE : end - position.applyAsLong(partition);
            if (behind <= 0) {
                since.putIfAbsent(partition, now.minusNanos(age));
            } else {
                since.remove(partition);
                lag += end == null ? 0 : behind;
            }
        }
    }

    /** Records that waited to be read at the last comparison. */
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
