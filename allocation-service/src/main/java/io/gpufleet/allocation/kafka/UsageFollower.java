package io.gpufleet.allocation.kafka;

import io.gpufleet.allocation.app.UsageLog;
import io.gpufleet.allocation.model.usage.UsagePiece;
import io.gpufleet.proto.allocation.v1.UsageInterval;
import io.gpufleet.proto.allocation.v1.UsageQuality;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.DecodedRecord;
import io.gpufleet.wire.KafkaClients;
import io.gpufleet.wire.Topic;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads {@code gpu.usage} into the {@link UsageLog}: what is kept of it at the start, then what is appended. */
public final class UsageFollower implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(UsageFollower.class);
    private static final Duration POLL = Duration.ofMillis(500);
    private static final Duration RETRY = Duration.ofSeconds(2);

    private final KafkaClients kafka;
    private final Codec codec;
    private final UsageLog log;
    private final Clock clock;
    private final Thread thread;
    private final CountDownLatch closed = new CountDownLatch(1);
    private volatile boolean open = true;

    private UsageFollower(KafkaClients kafka, Codec codec, UsageLog log, Clock clock) {
        this.kafka = kafka;
        this.codec = codec;
        this.log = log;
        this.clock = clock;
        this.thread = Thread.ofPlatform().name("usage-follower").daemon().unstarted(this::run);
    }

    /** Starts the thread, which reads until it is closed and starts over after a failure. */
    public static UsageFollower start(KafkaClients kafka, Codec codec, UsageLog log, Clock clock) {
        var follower = new UsageFollower(kafka, codec, log, clock);
        follower.thread.start();
        return follower;
    }

    private void run() {
        while (open) {
            try (var consumer = consumer()) {
                follow(consumer);
            } catch (KafkaException failed) {
                if (open) {
                    LOG.atWarn().addKeyValue("error", failed.getMessage()).log("usage cannot be read, retrying");
                    pause();
                }
            }
        }
    }

    private void follow(KafkaConsumer<String, byte[]> consumer) {
        Map<TopicPartition, Long> ends = seek(consumer);
        boolean loaded = false;
        while (open) {
            consumer.poll(POLL).forEach(this::add);
            if (!loaded
                    && ends.entrySet().stream().allMatch(end -> consumer.position(end.getKey()) >= end.getValue())) {
                loaded = true;
                log.loaded();
            }
        }
    }

    private void pause() {
        try {
            open = !closed.await(RETRY.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException end) {
            open = false;
        }
    }

    private KafkaConsumer<String, byte[]> consumer() {
        var settings = kafka.properties("usage-follower");
        settings.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        return new KafkaConsumer<>(settings, new StringDeserializer(), new ByteArrayDeserializer());
    }

    private Map<TopicPartition, Long> seek(KafkaConsumer<String, byte[]> consumer) {
        List<TopicPartition> partitions = new ArrayList<>();
        for (int number = 0; number < Topic.USAGE.partitions(); number++) {
            partitions.add(new TopicPartition(codec.topics().name(Topic.USAGE), number));
        }
        consumer.assign(partitions);
        Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
        long since = clock.instant().minus(UsageLog.RETENTION).toEpochMilli();
        Map<TopicPartition, Long> times = new HashMap<>();
        partitions.forEach(partition -> times.put(partition, since));
        consumer.offsetsForTimes(times).forEach((partition, found) -> {
            long end = ends.getOrDefault(partition, 0L);
            consumer.seek(partition, found == null ? end : Math.min(end, found.offset()));
        });
        return ends;
    }

    private void add(ConsumerRecord<String, byte[]> rec) {
        if (codec.decode(rec) instanceof DecodedRecord.Event event && event.payload() instanceof UsageInterval usage) {
            log.add(new UsagePiece(
                    usage.getIntervalId(),
                    rec.key(),
                    LedgerMapper.holding(usage),
                    LedgerMapper.time(usage.getFrom()),
                    LedgerMapper.time(usage.getTo()),
                    qualityName(usage.getQuality()),
                    usage.getGpuMilliseconds() < 0 ? -1 : 1));
        }
    }

    private static String qualityName(UsageQuality quality) {
        return quality.name().replace("USAGE_QUALITY_", "").replace('_', '-').toLowerCase(Locale.ROOT);
    }

    @Override
    public void close() {
        open = false;
        closed.countDown();
        thread.interrupt();
    }
}
