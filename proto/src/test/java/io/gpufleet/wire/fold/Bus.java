package io.gpufleet.wire.fold;

import io.gpufleet.compose.broker.BrokerProcess;
import io.gpufleet.proto.health.v1.DecisionTaken;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.Decoded;
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

/** A fleet's topics on a real broker: one broker for all tests of this virtual machine, one prefix for each test. */
@NullMarked
final class Bus {
    static final String CLUSTER = "c1";
    static final Duration SESSION = Duration.ofSeconds(2);
    private static final AtomicInteger PREFIXES = new AtomicInteger();

    final BrokerProcess broker;
    final Topics topics;
    final Codec codec;

    private Bus(BrokerProcess broker, String prefix) {
        this.broker = broker;
        this.topics = new Topics(prefix);
        this.codec = new Codec(CLUSTER, topics);
        TopicAdmin.apply(broker.bootstrap(), topics);
    }

    private static final class Shared {
        static final BrokerProcess BROKER = BrokerProcess.start(folder());

        private static Path folder() {
            try {
                return Files.createTempDirectory(Files.createDirectories(Path.of("target", "brokers")), "it");
            } catch (IOException impossible) {
                throw new java.io.UncheckedIOException(impossible);
            }
        }
    }

    static Bus fresh() {
        return new Bus(Shared.BROKER, "t" + PREFIXES.incrementAndGet() + ".");
    }

    static Bus on(BrokerProcess broker) {
        return new Bus(broker, "t.");
    }

    FoldSettings settings(String instance) {
        return new FoldSettings("counting", instance, broker.bootstrap(), instance + ":9090", SESSION);
    }

    FoldEngine start(String instance, Folder folder) {
        return FoldEngine.start(settings(instance), codec, folder, java.time.Clock.systemUTC());
    }

    /** Everything that is committed on a topic now, or also what is not. */
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

    /** Events that caused a decision, each as often as it did. */
    List<String> decided(boolean committed) {
        return read(Topic.DECISIONS, committed).stream()
                .map(rec -> ((DecisionTaken) event(rec).payload()).getEvidence(0))
                .sorted()
                .toList();
    }

    Decoded.Event event(ConsumerRecord<byte[], byte[]> rec) {
        if (codec.decode(Records.readable(rec)) instanceof Decoded.Event event) {
            return event;
        }
        throw new AssertionError("not an event: " + rec);
    }
}
