package io.gpufleet.bench.allocation;

import io.gpufleet.cli.fleet.FleetPlan;
import io.gpufleet.proto.allocation.v1.UsageInterval;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.DecodedRecord;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;

/** Adds up what is committed to {@code gpu.usage}, by pod. */
final class PublishedUsage implements AutoCloseable {
    private static final int MILLIS = 1_000;

    private final Codec codec = new Codec(FleetPlan.CLUSTER, new Topics(Topics.DEFAULT_PREFIX));
    private final KafkaConsumer<String, byte[]> consumer;
    private final PodRuns runs;
    private final long[] millis;
    private final byte[] closed;
    private int closings;
    private int adjustments;

    PublishedUsage(String bootstrap, PodRuns runs) {
        this.runs = runs;
        this.millis = new long[runs.count()];
        this.closed = new byte[runs.count()];
        this.consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", bootstrap, "isolation.level", "read_committed"),
                new StringDeserializer(),
                new ByteArrayDeserializer());
        List<TopicPartition> partitions = IntStream.range(0, Topic.USAGE.partitions())
                .mapToObj(partition -> new TopicPartition(codec.topics().name(Topic.USAGE), partition))
                .toList();
        consumer.assign(partitions);
        consumer.seekToBeginning(partitions);
    }

    /** Reads what was committed since, or waits a moment for more; false where there was nothing. */
    boolean poll() {
        var records = consumer.poll(Duration.ofMillis(200));
        records.forEach(this::add);
        return !records.isEmpty();
    }

    private void add(ConsumerRecord<String, byte[]> read) {
        if (codec.decode(read) instanceof DecodedRecord.Event event
                && event.payload() instanceof UsageInterval interval
                && interval.getPod().startsWith("pod-")) {
            int run = Integer.parseInt(interval.getPod().substring("pod-".length()));
            millis[run] += interval.getGpuMilliseconds();
            if (event.envelope().type() == EventType.USAGE_CLOSED) {
                closed[run]++;
                closings++;
            } else {
                adjustments++;
            }
        }
    }

    /** True when everything that is committed was read. */
    boolean isAtEnd() {
        return consumer.endOffsets(consumer.assignment()).entrySet().stream()
                .allMatch(end -> consumer.position(end.getKey()) >= end.getValue());
    }

    int closings() {
        return closings;
    }

    int adjustments() {
        return adjustments;
    }

    /** Pods whose interval was not closed once. */
    long podsNotClosedOnce() {
        return IntStream.range(0, closed.length).filter(run -> closed[run] != 1).count();
    }

    /** Sum, over all pods, of the seconds that are missing or too many. */
    double errorSeconds() {
        long error = 0;
        for (int run = 0; run < millis.length; run++) {
            error += Math.abs(millis[run] - runs.seconds(run) * MILLIS);
        }
        return (double) error / MILLIS;
    }

    @Override
    public void close() {
        consumer.close();
    }
}
