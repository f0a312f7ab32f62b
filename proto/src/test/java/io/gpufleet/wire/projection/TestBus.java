package io.gpufleet.wire.projection;

import io.gpufleet.proto.health.v1.DecisionTaken;
import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.DecodedRecord;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.NullMarked;

/** Topics of a fleet on a real broker: one broker for all tests of this JVM, one prefix for each test. */
@NullMarked
final class TestBus {
    static final String CLUSTER = "c1";
    static final Duration SESSION = Duration.ofSeconds(2);
    private static final AtomicInteger PREFIXES = new AtomicInteger();

    final BrokerProcess broker;
    final Topics topics;
    final Codec codec;

    private TestBus(BrokerProcess broker, String prefix) {
        this.broker = broker;
        this.topics = new Topics(prefix);
        this.codec = new Codec(CLUSTER, topics);
        TopicAdmin.apply(broker.bootstrap(), topics);
    }

    private static final class SharedBroker {
        static final BrokerProcess BROKER = BrokerProcess.start(directory());

        private static Path directory() {
            try {
                return Files.createTempDirectory(Files.createDirectories(Path.of("target", "brokers")), "it");
            } catch (IOException impossible) {
                throw new java.io.UncheckedIOException(impossible);
            }
        }
    }

    static TestBus withNewPrefix() {
        return new TestBus(SharedBroker.BROKER, "t" + PREFIXES.incrementAndGet() + ".");
    }

    static TestBus onBroker(BrokerProcess broker) {
        return new TestBus(broker, "t.");
    }

    ProjectionSettings settings(String instance) {
        return new ProjectionSettings("counting", instance, broker.bootstrap(), instance + ":9090", SESSION);
    }

    ProjectionEngine start(String instance, Projection projection) {
        return ProjectionEngine.start(settings(instance), codec, projection, java.time.Clock.systemUTC());
    }

    /** Reads all records of a topic, only committed ones or all. */
    List<ConsumerRecord<byte[], byte[]>> read(Topic topic, boolean committed) {
        var config = new Properties();
        config.put("bootstrap.servers", broker.bootstrap());
        config.put("isolation.level", committed ? "read_committed" : "read_uncommitted");
        List<ConsumerRecord<byte[], byte[]>> found = new ArrayList<>();
        try (var consumer = new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            List<TopicPartition> all = Changelog.partitions(topics, topic);
            consumer.assign(all);
            consumer.seekToBeginning(all);
            Map<TopicPartition, Long> ends = consumer.endOffsets(all);
            while (ends.entrySet().stream().anyMatch(end -> consumer.position(end.getKey()) < end.getValue())) {
                consumer.poll(Duration.ofMillis(100)).forEach(found::add);
            }
        }
        return found;
    }

    /** Returns the ids of the events that caused a decision, once for each decision. */
    List<String> decisionEvidence(boolean committed) {
        return read(Topic.DECISIONS, committed).stream()
                .map(rec -> ((DecisionTaken) event(rec).payload()).getEvidence(0))
                .sorted()
                .toList();
    }

    DecodedRecord.Event event(ConsumerRecord<byte[], byte[]> rec) {
        if (codec.decode(RecordConverter.withTextKey(rec)) instanceof DecodedRecord.Event event) {
            return event;
        }
        throw new AssertionError("not an event: " + rec);
    }
}
