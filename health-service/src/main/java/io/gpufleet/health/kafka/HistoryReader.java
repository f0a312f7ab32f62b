package io.gpufleet.health.kafka;

import io.gpufleet.health.kafka.history.HistoryMerge;
import io.gpufleet.health.model.Decision;
import io.gpufleet.health.model.HealthSignal;
import io.gpufleet.health.model.NodeBudgetShareCalculator;
import io.gpufleet.health.model.budget.NodeBudgetShare;
import io.gpufleet.proto.health.v1.DecisionTaken;
import io.gpufleet.proto.health.v1.NodeHealthState;
import io.gpufleet.runtime.projection.Inbound;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.DecodedRecord;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.KafkaClients;
import io.gpufleet.wire.Topic;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;

/** Reads what the health-service was told since an instant, what it recorded then, and which fleet it knows now. */
public final class HistoryReader {
    private static final List<Topic> INPUTS = List.of(Topic.HEALTH, Topic.INVENTORY, Topic.SIGNALS);
    /** The inputs, and what the service noticed without an event. */
    private static final List<Topic> HISTORY =
            Stream.concat(INPUTS.stream(), Stream.of(Topic.DECISIONS)).toList();

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
                    "event '" + text
                            + "' takes an id WRITER/EPOCH/TOPIC/SEQUENCE as './gpufleet events --json' prints it,"
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

    /** The node whose daemon wrote an event, which is the key of all that it writes; empty for an event of a service. */
    public static Optional<String> nodeOf(String eventId) {
        EventId id = EventId.parse(eventId);
        return Optional.of(id.writer()).filter(_ -> id.topic() != Topic.SIGNALS);
    }

    /**
     * Passes on every signal with its node, those of all nodes in the order of their append times.
     *
     * @param percent told how much was read, from 0 to 100
     * @return number of signals
     */
    public long read(Instant since, BiConsumer<String, HealthSignal> signals, IntConsumer percent) {
        return signals(everyPartition(HISTORY), since, signals, percent);
    }

    /** As {@link #read}, but of the partitions of one node alone, which are those of some other nodes as well. */
    public long readAround(String node, Instant since, BiConsumer<String, HealthSignal> signals, IntConsumer percent) {
        return signals(partitionsOf(node, HISTORY), since, signals, percent);
    }

    /**
     * Passes on every signal since an instant as {@link #read} does, and then, until {@code goOn} is false, what is appended, in
     * the order of each node; {@code goOn} is asked after each poll, twice a second at least.
     *
     * @param caughtUp run once, between both
     */
    public void follow(
            Instant since, BiConsumer<String, HealthSignal> signals, Runnable caughtUp, BooleanSupplier goOn) {
        Consumer<Inbound.Event> events =
                event -> signal(event).ifPresent(signal -> signals.accept(event.key(), signal));
        try (var consumer = consumer()) {
            var merge = new HistoryMerge(consumer, codec);
            merge.read(everyPartition(HISTORY), since, _ -> {}, events);
            caughtUp.run();
            merge.follow(events, goOn);
        }
    }

    private long signals(
            List<TopicPartition> partitions,
            Instant since,
            BiConsumer<String, HealthSignal> signals,
            IntConsumer percent) {
        var count = new AtomicLong();
        events(
                partitions,
                since,
                percent,
                event -> signal(event).ifPresent(signal -> {
                    signals.accept(event.key(), signal);
                    count.incrementAndGet();
                }));
        return count.get();
    }

    private static Optional<HealthSignal> signal(Inbound.Event event) {
        return event.payload() instanceof DecisionTaken taken
                ? RecordedSilence.toModel(event, taken)
                : SignalMapper.toModel(event, event.appendedAt());
    }

    /** The decisions about a node that were recorded since an instant and name an event as evidence, in their order. */
    public List<Decision> decisions(String node, Instant since, String eventId) {
        var found = new ArrayList<Decision>();
        events(partitionsOf(node, List.of(Topic.DECISIONS)), since, _ -> {}, event -> {
            if (event.payload() instanceof DecisionTaken taken
                    && taken.getEvidenceList().contains(eventId)) {
                DecisionFollower.toModel(taken).ifPresent(found::add);
            }
        });
        return found;
    }

    /** Shares of the budgets, by node with a Node object, now. */
    public Map<String, NodeBudgetShare> fleet() {
        var fleet = new TreeMap<String, NodeBudgetShare>();
        List<TopicPartition> partitions = everyPartition(List.of(Topic.HEALTH_STATE));
        try (var consumer = consumer()) {
            consumer.assign(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            consumer.seekToBeginning(partitions);
            while (ends.entrySet().stream().anyMatch(end -> consumer.position(end.getKey()) < end.getValue())) {
                consumer.poll(POLL)
                        .forEach(rec -> usage(rec)
                                .ifPresentOrElse(usage -> fleet.put(rec.key(), usage), () -> fleet.remove(rec.key())));
            }
        }
        return fleet;
    }

    private Optional<NodeBudgetShare> usage(ConsumerRecord<String, byte[]> rec) {
        return codec.decodeState(rec) instanceof DecodedRecord.Event event
                        && event.payload() instanceof NodeHealthState state
                ? Optional.of(NodeBudgetShareCalculator.of(StateMapper.toModel(rec.key(), state)))
                        .filter(usage -> usage.counted() > 0)
                : Optional.empty();
    }

    private List<TopicPartition> everyPartition(List<Topic> topics) {
        return topics.stream()
                .flatMap(topic -> IntStream.range(0, topic.partitions())
                        .mapToObj(number -> new TopicPartition(codec.topics().name(topic), number)))
                .toList();
    }

    private List<TopicPartition> partitionsOf(String node, List<Topic> topics) {
        return topics.stream()
                .map(topic -> new TopicPartition(codec.topics().name(topic), topic.partitionOf(node)))
                .toList();
    }

    private void events(
            List<TopicPartition> partitions, Instant since, IntConsumer percent, Consumer<Inbound.Event> events) {
        try (var consumer = consumer()) {
            new HistoryMerge(consumer, codec).read(partitions, since, percent, events);
        }
    }

    private KafkaConsumer<String, byte[]> consumer() {
        var settings = kafka.properties("policy-history");
        settings.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        // A history with a hole in it would be taken for the whole one: whoever reads says so, and may read again.
        settings.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none");
        settings.put(ConsumerConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, "10000");
        return kafka.consumer(settings, new StringDeserializer(), new ByteArrayDeserializer());
    }
}
