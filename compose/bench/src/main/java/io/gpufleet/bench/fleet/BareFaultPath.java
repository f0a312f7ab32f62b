package io.gpufleet.bench.fleet;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.gpufleet.bench.harness.Measurements;
import io.gpufleet.cli.fleet.FleetPlan;
import io.gpufleet.wire.KafkaClients;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * The calls of a fault without any code of ours, beside the same idle fleet: a record is appended, a consumer reads it, three
 * records are committed in a transaction, an object is patched, a watch sees it. No fault can be faster on this machine.
 */
final class BareFaultPath implements AutoCloseable {
    private static final int WARM_UP = 100;
    private static final int ROUNDS = 100;
    /** Faults come after a pause as well: the broker and the clients have gone to sleep. */
    private static final Duration PAUSE = Duration.ofMillis(50);

    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final String FACTS = "bench-bare-facts";
    private static final List<String> EFFECTS =
            List.of("bench-bare-state", "bench-bare-verdicts", "bench-bare-decisions");
    private static final byte[] RECORD = "x".repeat(1_000).getBytes(UTF_8);
    private static final PatchContext JSON_PATCH = PatchContext.of(PatchType.JSON);

    private final KubernetesClient kubernetes;
    private final KafkaProducer<byte[], byte[]> daemon;
    private final KafkaProducer<byte[], byte[]> service;
    private final KafkaConsumer<byte[], byte[]> reader;
    private final ConfigMap object;
    private final Watch watch;
    private final BlockingQueue<Long> seen = new LinkedBlockingQueue<>();
    private final Semaphore never = new Semaphore(0);

    /** When each call of a round was over, by the monotonic clock. */
    private record Round(long begun, long appended, long read, long committed, long patched, long watched) {}

    BareFaultPath(String bootstrap, KubernetesClient kubernetes) throws InterruptedException {
        this.kubernetes = kubernetes;
        var properties = KafkaClients.plain(bootstrap).properties("bench-bare");
        createTopics(bootstrap);
        properties.put(ProducerConfig.LINGER_MS_CONFIG, "0");
        this.daemon = new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer());
        // As the engine's own.
        properties.put(ProducerConfig.LINGER_MS_CONFIG, "1000");
        properties.put(ProducerConfig.TRANSACTIONAL_ID_CONFIG, "bench-bare");
        this.service = new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer());
        service.initTransactions();
        properties.remove(ProducerConfig.TRANSACTIONAL_ID_CONFIG);
        properties.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        properties.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
        properties.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
        this.reader = new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        reader.assign(List.of(new TopicPartition(FACTS, 0)));
        this.object = kubernetes
                .resource(new ConfigMapBuilder()
                        .withNewMetadata()
                        .withNamespace(FleetPlan.NAMESPACE)
                        .withName("bench-bare")
                        .endMetadata()
                        .addToData("round", "-1")
                        .build())
                .create();
        this.watch = kubernetes
                .configMaps()
                .inNamespace(FleetPlan.NAMESPACE)
                .withName("bench-bare")
                .watch(new Watched());
    }

    private final class Watched implements Watcher<ConfigMap> {
        @Override
        public void eventReceived(Action action, ConfigMap changed) {
            seen.add(System.nanoTime());
        }

        @Override
        public void onClose(WatcherException cause) {
            // The round that waits runs into its timeout.
        }
    }

    private static void createTopics(String bootstrap) throws InterruptedException {
        List<NewTopic> topics = new ArrayList<>();
        topics.add(new NewTopic(FACTS, 1, (short) 1));
        EFFECTS.forEach(name -> topics.add(new NewTopic(name, 1, (short) 1)));
        try (Admin admin = Admin.create(KafkaClients.plain(bootstrap).properties("bench-bare-admin"))) {
            admin.createTopics(topics).all().get();
        } catch (ExecutionException refused) {
            throw new IllegalStateException("topics of the bare path were not created", refused);
        }
    }

    void measure(Measurements measurements) throws InterruptedException {
        for (int i = 0; i < WARM_UP; i++) {
            var _ = round(i);
        }
        var rounds = new ArrayList<Round>();
        for (int i = 0; i < ROUNDS; i++) {
            var _ = never.tryAcquire(PAUSE.toMillis(), TimeUnit.MILLISECONDS);
            rounds.add(round(WARM_UP + i));
        }
        add(measurements, "append", rounds.stream().map(at -> TaintWatcher.millis(at.begun(), at.appended())));
        add(measurements, "append-and-read", rounds.stream().map(at -> TaintWatcher.millis(at.begun(), at.read())));
        add(measurements, "commit", rounds.stream().map(at -> TaintWatcher.millis(at.read(), at.committed())));
        add(measurements, "patch", rounds.stream().map(at -> TaintWatcher.millis(at.committed(), at.patched())));
        add(measurements, "watch", rounds.stream().map(at -> TaintWatcher.millis(at.patched(), at.watched())));
        add(measurements, "all", rounds.stream().map(at -> TaintWatcher.millis(at.begun(), at.watched())));
    }

    private static void add(Measurements measurements, String part, Stream<Double> sample) {
        measurements.addDistribution("fleet.bare." + part, sample.toList(), "ms");
    }

    private Round round(int number) throws InterruptedException {
        var appended = new CompletableFuture<Long>();
        long begun = System.nanoTime();
        daemon.send(new ProducerRecord<>(FACTS, RECORD), (_, _) -> appended.complete(System.nanoTime()));
        while (reader.poll(TIMEOUT).isEmpty()) {
            if (System.nanoTime() - begun > TIMEOUT.toNanos()) {
                throw new IllegalStateException("a record of the bare path was not read");
            }
        }
        long read = System.nanoTime();
        service.beginTransaction();
        EFFECTS.forEach(topic -> service.send(new ProducerRecord<>(topic, RECORD)));
        service.commitTransaction();
        long committed = System.nanoTime();
        // The object as it was created.
        seen.clear();
        var patched = CompletableFuture.supplyAsync(() -> {
            kubernetes
                    .resource(object)
                    .patch(JSON_PATCH, "[{\"op\":\"replace\",\"path\":\"/data/round\",\"value\":\"" + number + "\"}]");
            return System.nanoTime();
        });
        Long watched = seen.poll(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
        if (watched == null) {
            throw new IllegalStateException("a patch of the bare path was not seen");
        }
        return new Round(begun, appended.join(), read, committed, patched.join(), watched);
    }

    @Override
    public void close() {
        watch.close();
        reader.close();
        service.close();
        daemon.close();
        kubernetes.resource(object).delete();
    }
}
