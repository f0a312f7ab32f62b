package io.gpufleet.wire.projection;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.protobuf.Message;
import io.gpufleet.proto.bus.v1.ActiveReplica;
import io.gpufleet.proto.bus.v1.CommittedOffsets;
import io.gpufleet.wire.DecodedRecord;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import io.gpufleet.wire.TopicsException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/** A service's own changelog, read from the beginning into an empty state. Restoring makes no decisions. */
final class Changelog implements AutoCloseable {
    static final String OFFSETS = "@offsets";
    static final String ACTIVE = "@active";
    private static final Duration POLL = Duration.ofMillis(50);

    private final ProjectionContext context;
    private final Consumer<byte[], byte[]> reader;
    private final AppliedSequencesByKey sequences = new AppliedSequencesByKey();
    private final InputOffsets offsets;
    private ActiveReplica active = ActiveReplica.getDefaultInstance();
    private long newestEpoch;

    private Changelog(ProjectionContext context, Consumer<byte[], byte[]> reader) {
        this.context = context;
        this.reader = reader;
        this.offsets = new InputOffsets(context.codec().topics());
    }

    /** Checks the topics, clears the projection and seeks to the beginning. */
    static Changelog open(ProjectionContext context) {
        var changelog = new Changelog(context, context.consumer("changelog"));
        try {
            changelog.checkTopics();
            List<TopicPartition> all =
                    partitions(context.codec().topics(), context.projection().changelog());
            changelog.reader.assign(all);
            changelog.reader.seekToBeginning(all);
            context.projection().clear();
            return changelog;
        } catch (RuntimeException unusable) {
            changelog.close();
            throw unusable;
        }
    }

    static List<TopicPartition> partitions(Topics topics, Topic topic) {
        return IntStream.range(0, topic.partitions())
                .mapToObj(partition -> new TopicPartition(topics.name(topic), partition))
                .toList();
    }

    private void checkTopics() {
        Set<Topic> needed = EnumSet.of(context.projection().changelog(), Topic.ELECTION, Topic.DEADLETTER);
        needed.addAll(context.projection().inputs());
        Topics topics = context.codec().topics();
        Map<String, List<PartitionInfo>> found = reader.listTopics();
        for (Topic topic : needed) {
            List<PartitionInfo> partitions = found.get(topics.name(topic));
            if (partitions == null) {
                throw TopicsException.unusable("topic " + topics.name(topic)
                        + " is missing: create it with 'gpufleet topics apply', or check GPUFLEET_TOPIC_PREFIX");
            }
            if (partitions.size() != topic.partitions()) {
                throw new ProjectionStoppedException(
                        String.valueOf(TopicAdmin.partitionCountMismatch(topics, topic, partitions.size())
                                .getMessage()));
            }
        }
    }

    /** Reads up to the current end of committed records; returns early when {@code stop} is true. */
    void catchUp(BooleanSupplier stop) {
        Map<TopicPartition, Long> ends = reader.endOffsets(reader.assignment());
        while (!stop.getAsBoolean()
                && ends.entrySet().stream().anyMatch(end -> reader.position(end.getKey()) < end.getValue())) {
            follow();
        }
    }

    /** Reads newly committed records; waits for them for 50 ms. */
    void follow() {
        for (ConsumerRecord<byte[], byte[]> rec : reader.poll(POLL)) {
            restore(rec);
        }
    }

    private void restore(ConsumerRecord<byte[], byte[]> rec) {
        try {
            restore(context.codec().decode(RecordConverter.withTextKey(rec)));
        } catch (RuntimeException unreadable) {
            throw new ProjectionStoppedException(
                    "own changelog " + rec.topic() + " partition " + rec.partition() + " offset "
                            + rec.offset() + " key '" + (rec.key() == null ? "" : new String(rec.key(), UTF_8))
                            + "' cannot be read (" + unreadable.getMessage()
                            + "): run a version that can read it, or overwrite it with a record of the same key");
        }
    }

    private void restore(DecodedRecord decoded) {
        switch (decoded) {
            case DecodedRecord.Event event -> {
                newestEpoch = Math.max(newestEpoch, event.envelope().id().epoch());
                restore(event.envelope().key(), event.payload());
            }
            case DecodedRecord.Tombstone tombstone -> {
                sequences.forget(tombstone.key());
                context.projection().forget(tombstone.key());
            }
            case DecodedRecord.Poison(String reason) -> throw new IllegalArgumentException(reason);
        }
    }

    private void restore(String key, Message payload) {
        switch (payload) {
            case CommittedOffsets committed -> offsets.load(committed);
            case ActiveReplica replica -> active = replica;
            default -> context.projection().restore(key, sequences.load(key, payload));
        }
    }

    AppliedSequencesByKey sequences() {
        return sequences;
    }

    InputOffsets offsets() {
        return offsets;
    }

    /** Returns the newest active replica on the log. */
    ActiveReplica active() {
        return active;
    }

    /** Returns the newest epoch of a writer of this changelog; 0 when it is empty. */
    long newestEpoch() {
        return newestEpoch;
    }

    @Override
    public void close() {
        reader.close(org.apache.kafka.clients.consumer.CloseOptions.timeout(Duration.ofSeconds(1)));
    }

    /** Returns whether a key is reserved for the engine. */
    static boolean isReserved(@Nullable String key) {
        return key != null && key.startsWith("@");
    }
}
