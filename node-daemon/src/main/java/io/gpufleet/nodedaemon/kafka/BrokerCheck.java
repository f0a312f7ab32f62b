package io.gpufleet.nodedaemon.kafka;

import io.gpufleet.nodedaemon.app.DoctorFinding;
import io.gpufleet.wire.KafkaClients;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;

/** Checks that the broker responds, has the topics of a daemon, and has the same time. Blocks for at most 30 s. */
public final class BrokerCheck {
    private static final List<Topic> TOPICS =
            List.of(Topic.HEALTH, Topic.INVENTORY, Topic.ALLOCATION, Topic.TELEMETRY, Topic.VERDICTS, Topic.SETTINGS);
    /** Of the first answer: on a loaded node the client itself takes seconds to start. */
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(20);

    private static final Duration TIMEOUT = Duration.ofSeconds(5);
    /** Number of newest records of the partition that are searched for one of this node, which sends one every 10 s. */
    private static final long LAST_RECORDS = 500;
    /** A wrong clock makes times in events wrong, but not ages. */
    private static final Duration MAX_CLOCK_OFFSET = Duration.ofSeconds(30);

    private final KafkaClients clients;
    private final Topics topics;
    private final String node;

    /** Creates a check for one node; the file with properties of Kafka's clients may be empty. */
    public BrokerCheck(String bootstrap, String clientProperties, String topicPrefix, String node) {
        this(KafkaSettings.clients(bootstrap, clientProperties), topicPrefix, node);
    }

    /** Creates a check for one node. */
    public BrokerCheck(KafkaClients clients, String topicPrefix, String node) {
        this.clients = clients;
        this.topics = new Topics(topicPrefix);
        this.node = node;
    }

    /** Checks the broker, its topics and, if both are OK, the clock. */
    public List<DoctorFinding> examine() {
        var findings = new ArrayList<DoctorFinding>();
        Properties settings = clients.properties("node-daemon-check-" + node);
        settings.put("default.api.timeout.ms", Long.toString(CONNECT_TIMEOUT.toMillis()));
        settings.put("request.timeout.ms", Long.toString(CONNECT_TIMEOUT.toMillis()));
        try (Admin admin = clients.admin(settings)) {
            int brokers = admin.describeCluster().nodes().get().size();
            findings.add(DoctorFinding.ok("Kafka", clients.bootstrap() + " responds, " + brokers + " brokers"));
            DoctorFinding found = topics(admin);
            findings.add(found);
            if (found.status() == DoctorFinding.Status.OK) {
                findings.add(clock());
            }
        } catch (ExecutionException | KafkaException failed) {
            Throwable cause = Optional.ofNullable(failed.getCause()).orElse(failed);
            findings.add(DoctorFinding.fail(
                    "Kafka",
                    clients.bootstrap() + " does not respond (" + cause.getMessage() + ")",
                    "check GPUFLEET_KAFKA, the broker and the network; events wait in the outbox meanwhile"));
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
        return findings;
    }

    private DoctorFinding topics(Admin admin) throws InterruptedException, ExecutionException {
        var descriptions =
                admin.describeTopics(TOPICS.stream().map(topics::name).toList()).topicNameValues();
        for (Topic topic : TOPICS) {
            String name = topics.name(topic);
            try {
                var description = descriptions.get(name);
                int partitions =
                        description == null ? 0 : description.get().partitions().size();
                if (partitions != topic.partitions()) {
                    return DoctorFinding.fail(
                            "topics",
                            name + " has " + partitions + " partitions instead of " + topic.partitions(),
                            String.valueOf(TopicAdmin.partitionCountMismatch(topics, topic, partitions)
                                    .getMessage()));
                }
            } catch (ExecutionException failed) {
                if (failed.getCause() instanceof UnknownTopicOrPartitionException) {
                    return DoctorFinding.fail(
                            "topics",
                            name + " is missing",
                            "create it with 'gpufleet topics apply', or check GPUFLEET_TOPIC_PREFIX ('"
                                    + topics.prefix() + "') and the rights of this principal");
                }
                throw failed;
            }
        }
        return DoctorFinding.ok("topics", TOPICS.size() + " that a daemon needs, as in the topic catalogue");
    }

    /** Compares the time at which this node's daemon sent its newest telemetry with the broker's append time. */
    private DoctorFinding clock() {
        var partition = new TopicPartition(topics.name(Topic.TELEMETRY), Topics.partition(Topic.TELEMETRY, node));
        Properties settings = clients.properties("node-daemon-check-" + node);
        settings.put("allow.auto.create.topics", "false");
        try (var consumer = clients.consumer(settings, new StringDeserializer(), new ByteArrayDeserializer())) {
            consumer.assign(List.of(partition));
            long end = Optional.ofNullable(
                            consumer.endOffsets(List.of(partition), TIMEOUT).get(partition))
                    .orElse(0L);
            consumer.seek(partition, Math.max(0, end - LAST_RECORDS));
            Optional<Duration> offset = Optional.empty();
            long deadline = System.nanoTime() + TIMEOUT.toNanos();
            while (consumer.position(partition, TIMEOUT) < end && System.nanoTime() < deadline) {
                for (ConsumerRecord<String, byte[]> record : consumer.poll(Duration.ofMillis(500))) {
                    if (node.equals(record.key())) {
                        offset = clockOffset(record);
                    }
                }
            }
            return offset.map(BrokerCheck::clockFinding)
                    .orElse(DoctorFinding.ok("clock", "not compared: the broker has no new record of this node"));
        } catch (KafkaException failed) {
            return DoctorFinding.warn(
                    "clock",
                    "not compared: " + failed.getMessage(),
                    "harmless where this principal may not read " + partition.topic());
        }
    }

    private static Optional<Duration> clockOffset(ConsumerRecord<String, byte[]> record) {
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

    private static DoctorFinding clockFinding(Duration offset) {
        String found = offset.toMillis() + " ms behind the broker's, latency included";
        return offset.abs().compareTo(MAX_CLOCK_OFFSET) < 0
                ? DoctorFinding.ok("clock", found)
                : DoctorFinding.warn(
                        "clock", found, "let chrony or ntpd set it; times in events are wrong, ages and order are not");
    }
}
