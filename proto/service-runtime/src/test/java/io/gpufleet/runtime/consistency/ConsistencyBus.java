package io.gpufleet.runtime.consistency;

import io.gpufleet.runtime.engine.EngineConfig;
import io.gpufleet.runtime.projection.ProjectionSettings;
import io.gpufleet.runtime.projection.ProjectionSpec;
import io.gpufleet.runtime.record.RecordKeyConverter;
import io.gpufleet.runtime.record.WrittenRecords;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.DecodedRecord;
import io.gpufleet.wire.KafkaClients;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import java.time.Clock;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** The topics of one projection on a broker, and how a replica of the tests uses them. */
record ConsistencyBus(String bootstrap, Codec codec) {
    static final String CLUSTER = "c1";
    private static final Duration SESSION = Duration.ofSeconds(2);
    private static final Duration LEASE = Duration.ofSeconds(2);

    ConsistencyBus(String bootstrap) {
        this(bootstrap, new Codec(CLUSTER, new Topics("t.")));
    }

    /** Creates the topics of a projection alone: a broker needs seconds for all of the catalogue. */
    void createTopics(ProjectionSpec spec) throws ExecutionException, InterruptedException {
        Set<Topic> needed = EnumSet.of(spec.changelog(), Topic.DEADLETTER, Topic.ELECTION);
        needed.addAll(spec.read());
        needed.addAll(spec.outputs());
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap))) {
            admin.createTopics(needed.stream()
                            .map(topic -> new NewTopic(codec.topics().name(topic), topic.partitions(), (short) 1)
                                    .configs(topic.brokerSettings()))
                            .toList())
                    .all()
                    .get();
        }
    }

    /** Configuration of a replica whose clock differs from the broker's. */
    EngineConfig engine(String instance, Duration clockOffset) {
        var settings = new ProjectionSettings(
                "consistency", instance, instance + ":9090", SESSION, LEASE, ProjectionSettings.WRITER_GAP_WAIT);
        return new EngineConfig(
                settings, codec, KafkaClients.plain(bootstrap), Clock.offset(Clock.systemUTC(), clockOffset));
    }

    /** Everything that is committed on a topic now, each partition in its order. */
    List<ConsumerRecord<byte[], byte[]>> read(Topic topic) {
        return WrittenRecords.read(bootstrap, codec.topics().name(topic), topic.partitions(), true);
    }

    /** The committed events of a topic; poison and tombstones are left out. */
    List<DecodedRecord.Event> events(Topic topic) {
        return read(topic).stream()
                .map(rec -> codec.decode(RecordKeyConverter.withTextKey(rec)))
                .filter(DecodedRecord.Event.class::isInstance)
                .map(DecodedRecord.Event.class::cast)
                .toList();
    }
}
