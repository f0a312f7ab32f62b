package io.gpufleet.testbed.kafka;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Has a broker do once what the services have it do: topics, transactions, a group. Runs with the broker's class path. */
final class TrainingClient {
    private static final int TOPICS = 4;
    private static final int PARTITIONS = 8;
    private static final int TRANSACTIONS = 20;

    private TrainingClient() {}

    /** Argument: bootstrap servers. */
    public static void main(String[] arguments) throws ExecutionException, InterruptedException {
        var settings = new Properties();
        settings.put("bootstrap.servers", arguments[0]);
        List<String> topics =
                IntStream.range(0, TOPICS).mapToObj(i -> "training-" + i).toList();
        try (Admin admin = Admin.create(settings)) {
            admin.createTopics(topics.stream()
                            .map(topic -> new NewTopic(topic, PARTITIONS, (short) 1)
                                    .configs(Map.of("cleanup.policy", "compact")))
                            .toList())
                    .all()
                    .get();
            produce(settings, topics);
            consume(settings, topics);
            admin.describeTopics(topics).allTopicNames().get();
            admin.deleteTopics(topics).all().get();
        }
    }

    private static void produce(Properties settings, List<String> topics) {
        var own = new Properties();
        own.putAll(settings);
        own.put("transactional.id", "training");
        try (var producer = new KafkaProducer<>(own, new StringSerializer(), new StringSerializer())) {
            producer.initTransactions();
            for (int i = 0; i < TRANSACTIONS; i++) {
                String key = Integer.toString(i);
                producer.beginTransaction();
                topics.forEach(topic -> producer.send(new ProducerRecord<>(topic, key, key)));
                producer.commitTransaction();
            }
        }
    }

    private static void consume(Properties settings, List<String> topics) {
        var own = new Properties();
        own.putAll(settings);
        own.put("group.id", "training");
        own.put("auto.offset.reset", "earliest");
        own.put("isolation.level", "read_committed");
        try (var consumer = new KafkaConsumer<>(own, new StringDeserializer(), new StringDeserializer())) {
            consumer.subscribe(topics);
            for (int read = 0; read < TOPICS * TRANSACTIONS; ) {
                read += consumer.poll(Duration.ofSeconds(1)).count();
            }
            consumer.commitSync();
        }
    }
}
