package io.gpufleet.nodedaemon.kafka;

import com.google.protobuf.Message;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.Decoded;
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
 * What stands under this node's key in one compacted topic. Nothing is handed on before the partition was read to the
 * end that it had when reading began: then what stands there replaces what was known, also when nothing stands there.
 */
final class NodeKey<M extends Message> {
    private static final Logger LOG = LoggerFactory.getLogger(NodeKey.class);

    private final TopicPartition partition;
    private final String node;
    private final byte[] key;
    private final Class<M> type;
    private final M nothing;
    private final Codec codec;
    private final Consumer<M> adopt;
    private long end;
    private boolean reading = true;
    private M atEnd;

    /** The key of the settings' node; {@code nothing} is what an absent record means. */
    NodeKey(BusSettings settings, Topic topic, Class<M> type, M nothing, Consumer<M> adopt) {
        var topics = new Topics(settings.topicPrefix());
        this.partition = new TopicPartition(topics.name(topic), Topics.partition(topic, settings.node()));
        this.node = settings.node();
        this.key = node.getBytes(StandardCharsets.UTF_8);
        this.type = type;
        this.nothing = nothing;
        this.codec = new Codec(settings.cluster(), topics);
        this.adopt = adopt;
        this.atEnd = nothing;
    }

    TopicPartition partition() {
        return partition;
    }

    /** Reading begins anew, to this end. */
    void begin(long toEnd) {
        end = toEnd;
        reading = true;
        atEnd = nothing;
    }

    /** Everything before the position was taken; whether the end is reached. */
    boolean reached(long position) {
        if (reading && position >= end) {
            reading = false;
            adopt.accept(atEnd);
        }
        return !reading;
    }

    /** Takes a record of the partition. Looks at the key's bytes first: the partition carries many other nodes. */
    void take(ConsumerRecord<byte[], byte[]> rec) {
        if (Arrays.equals(key, rec.key())) {
            decoded(rec).ifPresent(message -> {
                atEnd = message;
                if (!reading) {
                    adopt.accept(message);
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
            case Decoded.Tombstone _ -> Optional.of(nothing);
            case Decoded.Event event when type.isInstance(event.payload()) -> Optional.of(type.cast(event.payload()));
            case Decoded.Event event -> unreadable(rec, "a " + event.envelope().type());
            case Decoded.Poison(String reason) -> unreadable(rec, reason);
        };
    }

    private Optional<M> unreadable(ConsumerRecord<byte[], byte[]> rec, String reason) {
        LOG.atWarn()
                .addKeyValue("topic", rec.topic())
                .addKeyValue("partition", rec.partition())
                .addKeyValue("offset", rec.offset())
                .addKeyValue("reason", reason)
                .log("a record for this node can not be read, the one before stays in force");
        return Optional.empty();
    }
}
