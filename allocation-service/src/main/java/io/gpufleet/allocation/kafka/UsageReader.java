package io.gpufleet.allocation.kafka;

import io.gpufleet.allocation.app.UsageSums;
import io.gpufleet.proto.allocation.v1.UsageInterval;
import io.gpufleet.proto.allocation.v1.UsageQuality;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.DecodedRecord;
import io.gpufleet.wire.KafkaClients;
import io.gpufleet.wire.Topic;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;

/** Sums over {@code gpu.usage}, read from the log by its time index. */
public final class UsageReader implements UsageSums {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    private final KafkaClients kafka;
    private final Codec codec;

    /** Opens a consumer for each request. */
    public UsageReader(KafkaClients kafka, Codec codec) {
        this.kafka = kafka;
        this.codec = codec;
    }

    private record UsageKey(String namespace, String model, UsageQuality quality) {}

    private static final class RunningSum {
        private long millis;
        private long intervals;
    }

    @Override
    public List<UsageSum> between(Instant from, Instant to) throws IOException {
        Map<UsageKey, RunningSum> sums = new HashMap<>();
        try (var consumer = open()) {
            Map<TopicPartition, Long> ends = seek(consumer, from);
            long deadline = System.nanoTime() + TIMEOUT.toNanos();
            while (ends.entrySet().stream().anyMatch(end -> consumer.position(end.getKey()) < end.getValue())) {
                if (System.nanoTime() - deadline > 0) {
                    throw new IOException(
                            "gpu.usage could not be read within " + TIMEOUT.toSeconds() + " s; ask for a shorter time");
                }
                consumer.poll(Duration.ofMillis(200)).forEach(rec -> add(sums, rec, to));
            }
        } catch (KafkaException failed) {
            throw new IOException("gpu.usage could not be read: " + failed.getMessage(), failed);
        }
        var rows = new TreeMap<String, UsageSum>();
        sums.forEach((key, sum) -> rows.put(
                key.toString(),
                new UsageSum(
                        key.namespace(), key.model(), qualityName(key.quality()), sum.millis / 1000.0, sum.intervals)));
        return List.copyOf(rows.values());
    }

    private KafkaConsumer<String, byte[]> open() {
        var settings = kafka.properties("usage-reader");
        settings.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        settings.put(ConsumerConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, "10000");
        return new KafkaConsumer<>(settings, new StringDeserializer(), new ByteArrayDeserializer());
    }

    private Map<TopicPartition, Long> seek(KafkaConsumer<String, byte[]> consumer, Instant from) {
        List<TopicPartition> partitions = new ArrayList<>();
        for (int number = 0; number < Topic.USAGE.partitions(); number++) {
            partitions.add(new TopicPartition(codec.topics().name(Topic.USAGE), number));
        }
        consumer.assign(partitions);
        Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
        Map<TopicPartition, Long> times = new HashMap<>();
        partitions.forEach(partition -> times.put(partition, from.toEpochMilli()));
        consumer.offsetsForTimes(times).forEach((partition, found) -> {
            long end = ends.getOrDefault(partition, 0L);
            consumer.seek(partition, found == null ? end : Math.min(end, found.offset()));
        });
        return ends;
    }

    private void add(Map<UsageKey, RunningSum> sums, ConsumerRecord<String, byte[]> rec, Instant to) {
        if (rec.timestamp() < to.toEpochMilli()
                && codec.decode(rec) instanceof DecodedRecord.Event event
                && event.payload() instanceof UsageInterval usage) {
            RunningSum sum = sums.computeIfAbsent(
                    new UsageKey(usage.getNamespace(), usage.getShortModel(), usage.getQuality()),
                    key -> new RunningSum());
            sum.millis += usage.getGpuMilliseconds();
            sum.intervals++;
        }
    }

    private static String qualityName(UsageQuality quality) {
        return quality.name().replace("USAGE_QUALITY_", "").replace('_', '-').toLowerCase(Locale.ROOT);
    }
}
