package io.gpufleet.wire.fold;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.protobuf.Message;
import io.gpufleet.proto.bus.v1.ActiveReplica;
import io.gpufleet.proto.bus.v1.Positions;
import io.gpufleet.wire.Decoded;
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

/** A service's own changelog, read from its beginning into a state that starts empty. Restoring decides nothing. */
final class Changelog implements AutoCloseable {
    static final String POSITIONS = "@positions";
    static final String ACTIVE = "@active";
    private static final Duration POLL = Duration.ofMillis(50);

    private final FoldParts parts;
    private final Consumer<byte[], byte[]> reader;
    private final Marks marks = new Marks();
    private final InputPositions positions;
    private ActiveReplica active = ActiveReplica.getDefaultInstance();
    private long newestEpoch;

    private Changelog(FoldParts parts, Consumer<byte[], byte[]> reader) {
        this.parts = parts;
        this.reader = reader;
        this.positions = new InputPositions(parts.codec().topics());
    }

    /** Checks the topics, empties the folder and stands at the beginning. */
    static Changelog open(FoldParts parts) {
        var changelog = new Changelog(parts, parts.reader("changelog"));
        try {
            changelog.checkTopics();
            List<TopicPartition> all =
                    partitions(parts.codec().topics(), parts.folder().changelog());
            changelog.reader.assign(all);
            changelog.reader.seekToBeginning(all);
            parts.folder().clear();
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
        Set<Topic> needed = EnumSet.of(parts.folder().changelog(), Topic.ELECTION, Topic.DEADLETTER);
        needed.addAll(parts.folder().inputs());
        Topics topics = parts.codec().topics();
        Map<String, List<PartitionInfo>> found = reader.listTopics();
        for (Topic topic : needed) {
            List<PartitionInfo> partitions = found.get(topics.name(topic));
            if (partitions == null) {
                throw TopicsException.unusable("topic " + topics.name(topic)
                        + " is missing: create it with 'gpufleet topics apply', or check GPUFLEET_TOPIC_PREFIX");
            }
            if (partitions.size() != topic.partitions()) {
                throw new FoldStoppedException(String.valueOf(
                        TopicAdmin.wrongCount(topics, topic, partitions.size()).getMessage()));
            }
        }
    }

    /** Reads up to what is committed now; returns early when told to stop. */
    void catchUp(BooleanSupplier stop) {
        Map<TopicPartition, Long> ends = reader.endOffsets(reader.assignment());
        while (!stop.getAsBoolean()
                && ends.entrySet().stream().anyMatch(end -> reader.position(end.getKey()) < end.getValue())) {
            follow();
        }
    }

    /** Takes in what was committed meanwhile; waits for it 50 ms. */
    void follow() {
        for (ConsumerRecord<byte[], byte[]> rec : reader.poll(POLL)) {
            restore(rec);
        }
    }

    private void restore(ConsumerRecord<byte[], byte[]> rec) {
        try {
            restore(parts.codec().decode(Records.readable(rec)));
        } catch (RuntimeException unreadable) {
            throw new FoldStoppedException("own changelog " + rec.topic() + " partition " + rec.partition() + " offset "
                    + rec.offset() + " key '" + (rec.key() == null ? "" : new String(rec.key(), UTF_8))
                    + "' can not be read (" + unreadable.getMessage()
                    + "): run a version that reads it, or write a record of the same key over it");
        }
    }

    private void restore(Decoded decoded) {
        switch (decoded) {
            case Decoded.Event event -> {
                newestEpoch = Math.max(newestEpoch, event.envelope().id().epoch());
                restore(event.envelope().key(), event.payload());
            }
            case Decoded.Tombstone given -> {
                marks.forget(given.key());
                parts.folder().forget(given.key());
            }
            case Decoded.Poison(String reason) -> throw new IllegalArgumentException(reason);
        }
    }

    private void restore(String key, Message payload) {
        switch (payload) {
            case Positions kept -> positions.load(kept);
            case ActiveReplica replica -> active = replica;
            default -> parts.folder().restore(key, marks.load(key, payload));
        }
    }

    Marks marks() {
        return marks;
    }

    InputPositions positions() {
        return positions;
    }

    /** The newest active replica that the log knows. */
    ActiveReplica active() {
        return active;
    }

    /** The newest epoch under which a replica wrote here; 0 when none did. */
    long newestEpoch() {
        return newestEpoch;
    }

    @Override
    public void close() {
        reader.close(org.apache.kafka.clients.consumer.CloseOptions.timeout(Duration.ofSeconds(1)));
    }

    /** Keys that the engine keeps for itself. */
    static boolean reserved(@Nullable String key) {
        return key != null && key.startsWith("@");
    }
}
