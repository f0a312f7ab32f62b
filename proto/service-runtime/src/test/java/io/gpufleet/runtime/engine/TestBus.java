package io.gpufleet.runtime.engine;

import io.gpufleet.proto.health.v1.DecisionTaken;
import io.gpufleet.proto.health.v1.NodeHealthState;
import io.gpufleet.runtime.leadership.BrokerClock;
import io.gpufleet.runtime.projection.FurtherTopics;
import io.gpufleet.runtime.projection.ProjectionSettings;
import io.gpufleet.runtime.projection.StateListener;
import io.gpufleet.runtime.record.RecordKeyConverter;
import io.gpufleet.runtime.record.WrittenRecords;
import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.DecodedRecord;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.KafkaClients;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.NullMarked;

/** A fleet's topics on a real broker: one broker for a few tests, one prefix for each. */
@NullMarked
final class TestBus {
    static final String CLUSTER = "c1";
    static final Duration SESSION = Duration.ofSeconds(2);
    static final Duration LEASE = Duration.ofSeconds(2);
    static final Duration GAP_WAIT = Duration.ofSeconds(1);
    private static final Set<Topic> TOPICS = EnumSet.of(
            Topic.HEALTH,
            Topic.INVENTORY,
            Topic.ALLOCATION,
            Topic.SIGNALS,
            Topic.TELEMETRY,
            Topic.DECISIONS,
            Topic.HEALTH_STATE,
            Topic.DEADLETTER,
            Topic.ELECTION);
    private static final AtomicInteger PREFIXES = new AtomicInteger();

    final BrokerProcess broker;
    final Topics topics;
    final Codec codec;

    private TestBus(BrokerProcess broker, String prefix) {
        this(broker, prefix, Map.of());
    }

    private TestBus(BrokerProcess broker, String prefix, Map<String, String> settings) {
        this.broker = broker;
        this.topics = new Topics(prefix);
        this.codec = new Codec(CLUSTER, topics);
        createTopics(settings);
    }

    /** Only those of {@link CountingProjection}: a broker needs seconds for all of the catalogue. */
    private void createTopics(Map<String, String> settings) {
        try (Admin admin = admin()) {
            admin.createTopics(TOPICS.stream()
                            .map(topic -> {
                                Map<String, String> all = new HashMap<>(topic.brokerSettings());
                                all.putAll(settings);
                                return new NewTopic(topics.name(topic), topic.partitions(), (short) 1).configs(all);
                            })
                            .toList())
                    .all()
                    .get();
        } catch (ExecutionException | InterruptedException failed) {
            throw new IllegalStateException(failed);
        }
    }

    /** One broker for a few tests: the partitions of all their prefixes would be too many for its heap. */
    private static final class SharedBroker {
        private static final int PREFIXES_OF_ONE = 10;
        private static BrokerProcess broker = BrokerProcess.start(folder());
        private static int prefixes;

        static synchronized BrokerProcess next() {
            if (prefixes++ == PREFIXES_OF_ONE) {
                broker.close();
                broker = BrokerProcess.start(folder());
                prefixes = 1;
            }
            return broker;
        }

        private static Path folder() {
            try {
                return Files.createTempDirectory(Files.createDirectories(Path.of("target", "brokers")), "it");
            } catch (IOException impossible) {
                throw new java.io.UncheckedIOException(impossible);
            }
        }
    }

    static TestBus withNewPrefix() {
        return new TestBus(SharedBroker.next(), "t" + PREFIXES.incrementAndGet() + ".");
    }

    /** Its topics keep the times at which a producer says that records were appended. */
    static TestBus withTimesOfProducers() {
        return new TestBus(
                SharedBroker.next(),
                "t" + PREFIXES.incrementAndGet() + ".",
                Map.of("message.timestamp.type", "CreateTime"));
    }

    static TestBus onBroker(BrokerProcess broker) {
        return new TestBus(broker, "t.");
    }

    ProjectionSettings settings(String instance) {
        return new ProjectionSettings("counting", instance, instance + ":9090", SESSION, LEASE, GAP_WAIT);
    }

    ProjectionEngine<NodeHealthState> start(String instance, CountingProjection projection) {
        return start(instance, projection, Clock.systemUTC());
    }

    ProjectionEngine<NodeHealthState> start(String instance, CountingProjection projection, Clock clock) {
        return start(instance, projection, clock, StateListener.none());
    }

    ProjectionEngine<NodeHealthState> start(
            String instance, CountingProjection projection, StateListener<NodeHealthState> listener) {
        return start(instance, projection, Clock.systemUTC(), listener);
    }

    private ProjectionEngine<NodeHealthState> start(
            String instance, CountingProjection projection, Clock clock, StateListener<NodeHealthState> listener) {
        var config = new EngineConfig(settings(instance), codec, KafkaClients.plain(broker.bootstrap()), clock);
        return ProjectionEngine.start(config, projection, projection, listener, _ -> {});
    }

    /** Of a service that uses further topics beside its projection. */
    ProjectionEngine<NodeHealthState> start(String instance, CountingProjection projection, FurtherTopics further) {
        var clock = new BrokerClock(Clock.systemUTC(), System::nanoTime);
        var config =
                new EngineConfig(settings(instance), codec, KafkaClients.plain(broker.bootstrap()), clock, further);
        return ProjectionEngine.start(config, projection, projection, StateListener.none(), _ -> {});
    }

    /** With the session and the lease of a real service. */
    ProjectionEngine<NodeHealthState> startAsShipped(String instance, CountingProjection projection) {
        var settings = new ProjectionSettings("counting", instance, instance + ":9090", ProjectionSettings.SESSION);
        var config = new EngineConfig(settings, codec, KafkaClients.plain(broker.bootstrap()), Clock.systemUTC());
        return ProjectionEngine.start(config, projection, projection, StateListener.none(), _ -> {});
    }

    /** With clients that authenticate. */
    ProjectionEngine<NodeHealthState> start(String instance, CountingProjection projection, KafkaClients clients) {
        var config = new EngineConfig(settings(instance), codec, clients, Clock.systemUTC());
        return ProjectionEngine.start(config, projection, projection, StateListener.none(), _ -> {});
    }

    /** An administrator; the caller closes it. */
    Admin admin() {
        var config = new Properties();
        config.put("bootstrap.servers", broker.bootstrap());
        return Admin.create(config);
    }

    /** Everything that is committed on a topic now, or also what is not. */
    List<ConsumerRecord<byte[], byte[]>> read(Topic topic, boolean committed) {
        return WrittenRecords.read(broker.bootstrap(), topics.name(topic), topic.partitions(), committed);
    }

    /**
     * Events that caused a decision, each as often as it did. As every reader must, it drops a record that repeats another one:
     * a leader repeats the last one of a committed transaction that the broker has left open (decision 0008).
     */
    List<String> decisionEvidence(boolean committed) {
        var met = new HashSet<EventId>();
        return read(Topic.DECISIONS, committed).stream()
                .map(this::event)
                .filter(event -> met.add(event.envelope().id()))
                .map(event -> ((DecisionTaken) event.payload()).getEvidence(0))
                .sorted()
                .toList();
    }

    DecodedRecord.Event event(ConsumerRecord<byte[], byte[]> rec) {
        if (codec.decode(RecordKeyConverter.withTextKey(rec)) instanceof DecodedRecord.Event event) {
            return event;
        }
        throw new AssertionError("not an event: " + rec);
    }
}
