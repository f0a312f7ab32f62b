package io.gpufleet.nodedaemon.kafka;

import io.gpufleet.nodedaemon.model.Finding;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;

/** Whether the broker is there, has the topics that a daemon needs, and agrees about the time. Blocks, 10 s at most. */
public final class BrokerCheck {
    private static final List<Topic> TOPICS =
            List.of(Topic.HEALTH, Topic.INVENTORY, Topic.ALLOCATION, Topic.TELEMETRY, Topic.VERDICTS, Topic.SETTINGS);
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    /** Newest records of the partition among which one of this node is looked for; it has one every 10 s. */
    private static final long LAST_RECORDS = 500;
    /** A wrong clock makes times in events wrong; ages are not touched by it. */
    private static final Duration MOST_OFF = Duration.ofSeconds(30);

    private final String bootstrap;
    private final Topics topics;
    private final String node;

    /** For one node's records. */
    public BrokerCheck(String bootstrap, String topicPrefix, String node) {
        this.bootstrap = bootstrap;
        this.topics = new Topics(topicPrefix);
        this.node = node;
    }

    /** The broker and its topics; the clock only where both are well. */
    public List<Finding> examine() {
        var findings = new ArrayList<Finding>();
        try (Admin admin = Admin.create(Map.of(
                "bootstrap.servers", bootstrap,
                "default.api.timeout.ms", Long.toString(PATIENCE.toMillis()),
                "request.timeout.ms", Long.toString(PATIENCE.toMillis())))) {
            int brokers = admin.describeCluster().nodes().get().size();
            findings.add(Finding.ok("Kafka", bootstrap + " answers, " + brokers + " brokers"));
            Finding found = topics(admin);
            findings.add(found);
            if (found.grade() == Finding.Grade.OK) {
                findings.add(clock());
            }
        } catch (ExecutionException | KafkaException failed) {
            Throwable cause = Optional.ofNullable(failed.getCause()).orElse(failed);
            findings.add(Finding.fail(
                    "Kafka",
                    bootstrap + " does not answer (" + cause.getMessage() + ")",
                    "check GPUFLEET_KAFKA, the broker and the network between; events wait in the outbox meanwhile"));
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
        return findings;
    }

    private Finding topics(Admin admin) throws InterruptedException, ExecutionException {
        var descriptions =
                admin.describeTopics(TOPICS.stream().map(topics::name).toList()).topicNameValues();
        for (Topic topic : TOPICS) {
            String name = topics.name(topic);
            try {
                var description = descriptions.get(name);
                int partitions =
                        description == null ? 0 : description.get().partitions().size();
                if (partitions != topic.partitions()) {
                    return Finding.fail(
                            "topics",
                            name + " has " + partitions + " partitions instead of " + topic.partitions(),
                            String.valueOf(TopicAdmin.wrongCount(topics, topic, partitions)
                                    .getMessage()));
                }
            } catch (ExecutionException failed) {
                if (failed.getCause() instanceof UnknownTopicOrPartitionException) {
                    return Finding.fail(
                            "topics",
                            name + " is missing",
                            "create it with 'gpufleet topics apply', or check GPUFLEET_TOPIC_PREFIX ('"
                                    + topics.prefix() + "') and the rights of this principal");
                }
                throw failed;
            }
        }
        return Finding.ok("topics", TOPICS.size() + " that a daemon needs, as the catalogue says");
    }

    /** Compares when this node's daemon sent its newest telemetry with when the broker appended it. */
    private Finding clock() {
        var partition = new TopicPartition(topics.name(Topic.TELEMETRY), Topics.partition(Topic.TELEMETRY, node));
        try (var consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", bootstrap, "allow.auto.create.topics", false),
                new StringDeserializer(),
                new ByteArrayDeserializer())) {
            consumer.assign(List.of(partition));
            long end = Optional.ofNullable(
                            consumer.endOffsets(List.of(partition), PATIENCE).get(partition))
                    .orElse(0L);
            consumer.seek(partition, Math.max(0, end - LAST_RECORDS));
            Optional<Duration> offset = Optional.empty();
            long patience = System.nanoTime() + PATIENCE.toNanos();
            while (consumer.position(partition, PATIENCE) < end && System.nanoTime() < patience) {
                for (ConsumerRecord<String, byte[]> record : consumer.poll(Duration.ofMillis(500))) {
                    if (node.equals(record.key())) {
                        offset = sentBefore(record);
                    }
                }
            }
            return offset.map(BrokerCheck::judge)
                    .orElse(Finding.ok("clock", "not compared: the broker has nothing new of this node"));
        } catch (KafkaException failed) {
            return Finding.warn(
                    "clock",
                    "not compared: " + failed.getMessage(),
                    "harmless where this principal may not read " + partition.topic());
        }
    }

    private static Optional<Duration> sentBefore(ConsumerRecord<String, byte[]> record) {
        var header = record.headers().lastHeader("ce_recordedtime");
        try {
            return header == null
                    ? Optional.empty()
                    : Optional.of(Duration.between(
                            Instant.parse(new String(header.value(), StandardCharsets.UTF_8)),
                            Instant.ofEpochMilli(record.timestamp())));
        } catch (DateTimeParseException notOurs) {
            return Optional.empty();
        }
    }

    private static Finding judge(Duration offset) {
        String found = offset.toMillis() + " ms behind the broker's, sending included";
        return offset.abs().compareTo(MOST_OFF) < 0
                ? Finding.ok("clock", found)
                : Finding.warn(
                        "clock", found, "let chrony or ntpd set it; times in events are wrong, ages and order are not");
    }
}
