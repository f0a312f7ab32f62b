package io.gpufleet.health.kafka;

import io.gpufleet.health.model.Decision;
import io.gpufleet.health.model.HealthSignal;
import io.gpufleet.proto.health.v1.DecisionTaken;
import io.gpufleet.runtime.projection.Inbound;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.DecodedRecord;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.KafkaClients;
import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;

/**
 * Reads what the health-service was told since an instant: the signals of each node in the order of their append times. Keeps
 * one partition of all inputs in memory at a time; a node has the same one on each.
 */
public final class HistoryReader {
    private static final List<Topic> INPUTS = List.of(Topic.HEALTH, Topic.INVENTORY, Topic.SIGNALS);
    private static final Duration POLL = Duration.ofMillis(500);

    private final KafkaClients kafka;
    private final Codec codec;

    /** Reads through the clients. */
    public HistoryReader(KafkaClients kafka, Codec codec) {
        this.kafka = kafka;
        this.codec = codec;
    }

    /** The id of an event of the inputs; throws {@link IllegalArgumentException}, with one line for people, for another. */
    public static String signalId(String text) {
        EventId id;
        try {
            id = EventId.parse(text);
        } catch (IllegalArgumentException malformed) {
            throw new IllegalArgumentException(
                    "event '" + text + "' takes an id WRITER/EPOCH/TOPIC/SEQUENCE as './gpufleet events' prints it,"
                            + " such as node-1/1772359200000/health/7",
                    malformed);
        }
        if (!INPUTS.contains(id.topic())) {
            throw new IllegalArgumentException("event '" + text + "' is on "
                    + id.topic().suffix() + "; the policy decides about events on "
                    + INPUTS.stream().map(Topic::suffix).collect(Collectors.joining(", ")));
        }
        return id.toString();
    }

    /**
     * Passes on every signal with its node.
     *
     * @param percent told how much was read, from 0 to 100
     * @return number of signals
     */
    public long read(Instant since, BiConsumer<String, HealthSignal> signals, IntConsumer percent) {
        var count = new AtomicLong();
        events(
                INPUTS,
                since,
                percent,
                event -> SignalMapper.toModel(event, event.appendedAt()).ifPresent(signal -> {
                    signals.accept(event.key(), signal);
                    count.incrementAndGet();
                }));
        return count.get();
    }

    /** The decisions that were recorded since an instant and name an event as evidence, in the order of each node. */
    public List<Decision> decisions(Instant since, String eventId) {
        var found = new ArrayList<Decision>();
        events(List.of(Topic.DECISIONS), since, _ -> {}, event -> {
            if (event.payload() instanceof DecisionTaken taken
                    && taken.getEvidenceList().contains(eventId)) {
                DecisionFollower.toModel(taken).ifPresent(found::add);
            }
        });
        return found;
    }

    private void events(List<Topic> topics, Instant since, IntConsumer percent, Consumer<Inbound.Event> events) {
        var settings = kafka.properties("policy-history");
        settings.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        settings.put(ConsumerConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, "10000");
        int partitions = topics.stream().mapToInt(Topic::partitions).max().orElseThrow();
        try (var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new ByteArrayDeserializer())) {
            for (int number = 0; number < partitions; number++) {
                percent.accept(100 * number / partitions);
                partition(consumer, topics, number, since).forEach(events);
            }
        }
        percent.accept(100);
    }

    private List<Inbound.Event> partition(
            KafkaConsumer<String, byte[]> consumer, List<Topic> topics, int number, Instant since) {
        List<TopicPartition> assigned = topics.stream()
                .filter(topic -> number < topic.partitions())
                .map(topic -> new TopicPartition(codec.topics().name(topic), number))
                .toList();
        consumer.assign(assigned);
        Map<TopicPartition, Long> ends = consumer.endOffsets(assigned);
        consumer.offsetsForTimes(assigned.stream().collect(Collectors.toMap(each -> each, _ -> since.toEpochMilli())))
                .forEach((partition, found) ->
                        consumer.seek(partition, found == null ? ends.getOrDefault(partition, 0L) : found.offset()));
        var events = new HistoryOfPartition();
        while (ends.entrySet().stream().anyMatch(end -> consumer.position(end.getKey()) < end.getValue())) {
            consumer.poll(POLL).forEach(rec -> events.add(codec.decode(rec)));
        }
        return events.inOrder();
    }

    /** Events of one partition of all inputs, each once. */
    private static final class HistoryOfPartition {
        private final List<Inbound.Event> events = new ArrayList<>();
        private final Set<EventId> ids = new HashSet<>();

        void add(DecodedRecord rec) {
            if (rec instanceof DecodedRecord.Event event
                    && ids.add(event.envelope().id())) {
                events.add(new Inbound.Event(event.envelope(), event.payload(), event.appendedAt(), false));
            }
        }

        List<Inbound.Event> inOrder() {
            events.sort(Comparator.comparing(Inbound.Event::appendedAt));
            return events;
        }
    }
}
