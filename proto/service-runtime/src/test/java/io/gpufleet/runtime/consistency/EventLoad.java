package io.gpufleet.runtime.consistency;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.gpufleet.wire.Envelope;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.EventSource;
import io.gpufleet.wire.EventTime;
import io.gpufleet.wire.Topic;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Writes the events of some nodes as their daemons and the services would: repeated after a lost acknowledgement, out of
 * date, under a new incarnation, and between them records that nobody can read.
 */
final class EventLoad implements AutoCloseable {
    private static final long FIRST_EPOCH = 1_000;
    private static final Set<Topic> OF_SERVICES = Set.of(Topic.SIGNALS, Topic.VERDICTS);

    private final ConsistencyBus bus;
    private final TestedProjection<?> tested;
    private final List<String> nodes;
    private final Random random;
    private final KafkaProducer<String, byte[]> producer;
    private final Map<String, Long> epochs = new HashMap<>();
    private final Map<String, Long> sequences = new HashMap<>();
    private final Map<String, List<ProducerRecord<String, byte[]>>> sent = new HashMap<>();
    private final Set<String> firsts = new HashSet<>();
    private final List<Future<RecordMetadata>> poison = new ArrayList<>();

    EventLoad(ConsistencyBus bus, TestedProjection<?> tested, String test, int nodes, long seed) {
        this.bus = bus;
        this.tested = tested;
        this.nodes = IntStream.range(0, nodes).mapToObj(i -> test + "-" + i).toList();
        this.random = new Random(seed);
        this.producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", bus.bootstrap(), "acks", "all", "reconnect.backoff.max.ms", "200"),
                new StringSerializer(),
                new ByteArraySerializer());
    }

    List<String> nodes() {
        return nodes;
    }

    /** Writes the first event of each node. */
    void sendFirst() {
        for (String node : nodes) {
            EventId id = send(node, tested.first(node));
            firsts.add(id.toString());
        }
        producer.flush();
    }

    /** Writes the second event of each node that has one. */
    void sendSecond() {
        nodes.forEach(node -> tested.second(node).ifPresent(event -> send(node, event)));
        producer.flush();
    }

    /** Whether this is the id of the first event of a node. */
    boolean isFirst(EventId id) {
        return firsts.contains(id.toString());
    }

    /** Writes further records of any nodes; returns once the broker has them. */
    void send(int records) {
        for (int i = 0; i < records; i++) {
            String node = nodes.get(random.nextInt(nodes.size()));
            switch (random.nextInt(20)) {
                case 0 -> poison.add(producer.send(poison(node)));
                case 1, 2 -> repeat(node);
                case 3 -> {
                    restart(node);
                    send(node, tested.next(node, random));
                }
                default -> send(node, tested.next(node, random));
            }
        }
        producer.flush();
    }

    private EventId send(String node, TestEvent event) {
        EventSource source = OF_SERVICES.contains(event.topic())
                ? new EventSource.Service(ConsistencyBus.CLUSTER, "health-service-0")
                : new EventSource.Node(ConsistencyBus.CLUSTER, node);
        long epoch = epochs.getOrDefault(source.name(), FIRST_EPOCH);
        long sequence = sequences.merge(source.name() + " " + event.topic() + " " + epoch, 1L, Long::sum);
        var id = new EventId(source.name(), epoch, event.topic(), sequence);
        Instant now = Instant.now();
        ProducerRecord<String, byte[]> rec = bus.codec()
                .encode(
                        new Envelope(id, source, event.type(), "", node, new EventTime(now, now, 0), ""),
                        event.payload());
        sent.computeIfAbsent(node, _ -> new ArrayList<>()).add(rec);
        producer.send(copy(rec));
        return id;
    }

    /** Any earlier record of the node once more, also one of a former incarnation. */
    private void repeat(String node) {
        List<ProducerRecord<String, byte[]>> all = sent.getOrDefault(node, List.of());
        producer.send(copy(all.get(random.nextInt(all.size()))));
    }

    /** The writer starts anew: a later incarnation, sequences from 1. */
    private void restart(String node) {
        epochs.merge(node, FIRST_EPOCH + 1, (_, epoch) -> epoch + 1);
    }

    private ProducerRecord<String, byte[]> poison(String node) {
        ProducerRecord<String, byte[]> rec =
                copy(sent.getOrDefault(node, List.of()).getFirst());
        return switch (random.nextInt(3)) {
            case 0 -> new ProducerRecord<>(rec.topic(), null, node, "{".getBytes(UTF_8), rec.headers());
            case 1 -> new ProducerRecord<>(rec.topic(), node, "no event".getBytes(UTF_8));
            default -> {
                rec.headers().remove("ce_time").add("ce_time", "+12345-01-01T00:00:00Z".getBytes(UTF_8));
                yield rec;
            }
        };
    }

    private static ProducerRecord<String, byte[]> copy(ProducerRecord<String, byte[]> rec) {
        return new ProducerRecord<>(
                rec.topic(),
                null,
                rec.key(),
                rec.value(),
                new RecordHeaders(rec.headers().toArray()));
    }

    /** Where each record stands that nobody can read: topic, partition and offset. */
    List<String> poison() {
        return poison.stream().map(EventLoad::position).sorted().toList();
    }

    private static String position(Future<RecordMetadata> sent) {
        try {
            RecordMetadata at = sent.get();
            return at.topic() + "/" + at.partition() + "/" + at.offset();
        } catch (ExecutionException | InterruptedException failed) {
            throw new AssertionError("the broker did not take the record", failed);
        }
    }

    @Override
    public void close() {
        producer.close();
    }
}
