package io.gpufleet.cli.bus;

import io.gpufleet.wire.DeadLetterOrigin;
import io.gpufleet.wire.KafkaClients;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Writes dead letters to their topics again; what must not be replayed is left, with the reason. */
public final class DeadLetterReplay {
    private static final Duration POLL = Duration.ofMillis(500);
    private static final String CLIENT = "gpufleet-deadletter";

    private final KafkaClients kafka;
    private final Topics topics;
    private final Clock clock;

    /**
     * A dead letter and what speaks against its replay.
     *
     * @param obstacle empty where nothing does
     */
    public record Planned(DeadLetter letter, String obstacle) {}

    /** Replays on a broker, on the topics of a prefix. */
    public DeadLetterReplay(KafkaClients kafka, Topics topics, Clock clock) {
        this.kafka = kafka;
        this.topics = topics;
        this.clock = clock;
    }

    /**
     * The dead letters that a filter accepts, each origin once, in the order of their topics.
     *
     * @param replaced also those that a later record has replaced
     */
    public List<Planned> plan(DeadLetterFilter filter, boolean replaced) {
        try (var consumer = consumer()) {
            Map<String, DeadLetter> letters = new LinkedHashMap<>();
            Map<String, String> notes = new HashMap<>();
            readLetters(consumer, letter -> {
                String id = letter.origin().consumer() + " " + letter.origin().position();
                String at = letter.header(DeadLetterOrigin.REPLAYED);
                if (at.isEmpty()) {
                    letters.put(id, letter);
                } else {
                    notes.put(id, "replayed at " + at);
                }
            });
            List<Planned> planned = new ArrayList<>();
            letters.forEach((id, letter) -> {
                if (filter.accepts(letter, topics)) {
                    String obstacle = Optional.ofNullable(notes.get(id)).orElseGet(() -> obstacle(letter));
                    planned.add(new Planned(
                            letter, obstacle.isEmpty() && !replaced ? replacement(consumer, letter) : obstacle));
                }
            });
            return planned;
        }
    }

    private void readLetters(KafkaConsumer<byte[], byte[]> consumer, Consumer<DeadLetter> reader) {
        String name = topics.name(Topic.DEADLETTER);
        List<TopicPartition> partitions = IntStream.range(0, Topic.DEADLETTER.partitions())
                .mapToObj(partition -> new TopicPartition(name, partition))
                .toList();
        consumer.assign(partitions);
        consumer.seekToBeginning(partitions);
        readToEnd(consumer, rec -> {
            try {
                reader.accept(new DeadLetter(DeadLetterOrigin.of(rec.headers()), rec));
            } catch (IllegalArgumentException foreign) {
                System.err.println("gpufleet: " + rec.topic() + "/" + rec.partition() + "/" + rec.offset()
                        + " is no dead letter of a service: " + foreign.getMessage());
            }
        });
    }

    private String obstacle(DeadLetter letter) {
        String name = letter.origin().topic();
        Optional<Topic> topic = topics.byName(name);
        if (topic.isEmpty()) {
            return "topic " + name + " is not in the catalogue of prefix '" + topics.prefix() + "'";
        }
        if (topic.get().compacted()) {
            return name + " holds the newest record of each key, which an old one would replace";
        }
        if (topic.get() == Topic.TELEMETRY) {
            return "a heartbeat is of its time";
        }
        return letter.header("dlq.truncated").isEmpty() ? "" : "the dead letter holds a part of the record only";
    }

    /** The snapshot or signal that has replaced a dead letter since; empty where there is none. */
    private String replacement(KafkaConsumer<byte[], byte[]> consumer, DeadLetter letter) {
        DeadLetterOrigin origin = letter.origin();
        Topic topic = topics.byName(origin.topic()).orElseThrow();
        var partition = new TopicPartition(origin.topic(), origin.partition());
        consumer.assign(List.of(partition));
        long beginning = consumer.beginningOffsets(List.of(partition)).getOrDefault(partition, 0L);
        consumer.seek(partition, Math.max(beginning, origin.offset() + 1));
        var ids = new ArrayList<String>();
        readToEnd(consumer, later -> {
            if (LaterRecords.replaces(topic, letter, later)) {
                ids.add(DeadLetter.header(later, "ce_id").orElse("offset " + later.offset()));
            }
        });
        return ids.isEmpty() ? "" : "replaced by " + ids.getLast() + " (--replaced replays it all the same)";
    }

    private static void readToEnd(
            KafkaConsumer<byte[], byte[]> consumer, Consumer<ConsumerRecord<byte[], byte[]>> reader) {
        Map<TopicPartition, Long> ends = consumer.endOffsets(consumer.assignment());
        while (ends.entrySet().stream().anyMatch(end -> consumer.position(end.getKey()) < end.getValue())) {
            consumer.poll(POLL).forEach(reader);
        }
    }

    /** Replays; throws {@link IllegalStateException} with the reason of the broker for one that it does not take. */
    public void replay(List<DeadLetter> letters) {
        Properties settings = kafka.properties(CLIENT);
        settings.put(ProducerConfig.ACKS_CONFIG, "all");
        settings.put(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, Integer.toString(KafkaClients.MAX_REQUEST_BYTES));
        settings.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, "30000");
        settings.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, "10000");
        try (var producer = new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer())) {
            for (DeadLetter letter : letters) {
                producer.send(letter.origin().replay(letter.rec(), clock.instant()))
                        .get();
            }
        } catch (ExecutionException refused) {
            throw new IllegalStateException("the broker did not take a dead letter", refused.getCause());
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted before every dead letter was replayed", interrupted);
        }
    }

    private KafkaConsumer<byte[], byte[]> consumer() {
        Properties settings = kafka.properties(CLIENT);
        settings.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        settings.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
        settings.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, "false");
        settings.put(ConsumerConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, "10000");
        return new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }
}
