package io.gpufleet.nodedaemon.kafka;

import com.google.protobuf.Message;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.DecodedRecord;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the newest record of this node's key from a compacted topic. Nothing is passed on until the partition is read to
 * the end that it had at the start of reading; then its newest record, or its absence, replaces the known value.
 */
final class CompactedKeyReader<M extends Message> {
    private static final Logger LOG = LoggerFactory.getLogger(CompactedKeyReader.class);

    private final TopicPartition partition;
    private final String node;
    private final byte[] key;
    private final Class<M> type;
    private final M absent;
    private final Codec codec;
    private final Consumer<M> onValue;
    private long end;
    private boolean reading = true;
    private M latest;

    /** Creates a reader for the settings' node; {@code absent} is the value of an absent record. */
    CompactedKeyReader(KafkaSettings settings, Topic topic, Class<M> type, M absent, Consumer<M> onValue) {
        var topics = new Topics(settings.topicPrefix());
        this.partition = new TopicPartition(topics.name(topic), Topics.partition(topic, settings.node()));
        this.node = settings.node();
        this.key = node.getBytes(StandardCharsets.UTF_8);
        this.type = type;
        this.absent = absent;
        this.codec = new Codec(settings.cluster(), topics);
        this.onValue = onValue;
        this.latest = absent;
    }

    TopicPartition partition() {
        return partition;
    }

    /** Restarts reading, up to the given end offset. */
    void restart(long endOffset) {
        end = endOffset;
        reading = true;
        latest = absent;
    }

    /** Whether the end is reached, with all records before the offset consumed. */
    boolean isCaughtUp(long offset) {
        if (reading && offset >= end) {
            reading = false;
            onValue.accept(latest);
        }
        return !reading;
    }

    /** Accepts a record of the partition. Compares the key first, since the partition has records of many nodes. */
    void accept(ConsumerRecord<byte[], byte[]> rec) {
        if (Arrays.equals(key, rec.key())) {
            decoded(rec).ifPresent(message -> {
                latest = message;
                if (!reading) {
                    onValue.accept(message);
                }
            });
        }
    }

    private Optional<M> decoded(ConsumerRecord<byte[], byte[]> rec) {
        var named = new ConsumerRecord<>(
                rec.topic(),
                rec.partition(),
                rec.offset(),
                rec.timestamp(),
                rec.timestampType(),
                rec.serializedKeySize(),
                rec.serializedValueSize(),
                node,
                rec.value(),
                rec.headers(),
                rec.leaderEpoch());
        return switch (codec.decode(named)) {
            case DecodedRecord.Tombstone _ -> Optional.of(absent);
            case DecodedRecord.Event event
            when type.isInstance(event.payload()) -> Optional.of(type.cast(event.payload()));
            case DecodedRecord.Event event ->
                unreadable(rec, "a " + event.envelope().type());
            case DecodedRecord.UnknownType unknown -> {
                LOG.atDebug().addKeyValue("type", unknown.ceType()).log("record of an unknown type is skipped");
                yield Optional.empty();
            }
            case DecodedRecord.Poison(String reason) -> unreadable(rec, reason);
        };
    }

    private Optional<M> unreadable(ConsumerRecord<byte[], byte[]> rec, String reason) {
        LOG.atWarn()
                .addKeyValue("topic", rec.topic())
                .addKeyValue("partition", rec.partition())
                .addKeyValue("offset", rec.offset())
                .addKeyValue("reason", reason)
                .log("record of this node cannot be read, previous one stays in force");
        return Optional.empty();
    }
}
