package io.gpufleet.nodedaemon.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.nodedaemon.app.NodeFact;
import io.gpufleet.nodedaemon.kafka.outbox.FaultyDisk;
import io.gpufleet.nodedaemon.model.device.TestGpus;
import io.gpufleet.wire.KafkaClients;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How the publisher uses a producer. */
class EventPublisherSendTest {
    @TempDir
    Path directory;

    private final List<TestProducer> producers = new CopyOnWriteArrayList<>();
    private final Queue<Predicate<String>> failures = new ConcurrentLinkedQueue<>();
    private final Queue<Error> defects = new ConcurrentLinkedQueue<>();
    private final AtomicInteger seconds = new AtomicInteger();
    private final FaultyDisk disk = new FaultyDisk();

    /** Acknowledges what it sends; what it refuses fails as a send without metadata does, before it is sent. */
    private final class TestProducer extends MockProducer<String, byte[]> {
        private final Predicate<String> fails;
        private final List<String> ids = new CopyOnWriteArrayList<>();
        private final List<Long> appended = new CopyOnWriteArrayList<>();

        TestProducer(Predicate<String> fails) {
            super(true, null, new StringSerializer(), new ByteArraySerializer());
            this.fails = fails;
        }

        @Override
        public synchronized Future<RecordMetadata> send(ProducerRecord<String, byte[]> event, Callback callback) {
            String id = new String(event.headers().lastHeader("ce_id").value(), StandardCharsets.UTF_8);
            if (fails.test(id)) {
                var failure = new TimeoutException("no metadata");
                callback.onCompletion(null, failure);
                return CompletableFuture.failedFuture(failure);
            }
            ids.add(id);
            appended.add(bytesOnDisk());
            return super.send(event, callback);
        }
    }

    private long bytesOnDisk() {
        try (Stream<Path> files = Files.list(directory.resolve("outbox/facts"))) {
            return files.filter(file -> file.toString().endsWith(".outbox"))
                    .mapToLong(file -> file.toFile().length())
                    .sum();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private EventPublisher publisher() {
        return publisher(() -> {});
    }

    private EventPublisher publisher(Runnable beforeAll) {
        var settings =
                new KafkaSettings(KafkaClients.plain("127.0.0.1:1"), "c1", "gpu.", "n1", "boot-1", directory, 1 << 20);
        return new EventPublisher(settings, 5, () -> TestGpus.second(seconds.get()), _ -> {}, disk, _ -> {
                    Error defect = defects.poll();
                    if (defect != null) {
                        throw defect;
                    }
                    Predicate<String> fails = failures.poll();
                    var producer = new TestProducer(fails == null ? _ -> false : fails);
                    producers.add(producer);
                    return new ProducerConnection(producer);
                })
                .start(Duration.ZERO, beforeAll);
    }

    private static void publish(EventPublisher publisher, int number) {
        publisher.publish(
                new NodeFact.Allocated("nvidia.com/gpu", List.of("GPU-" + number), List.of("envvar"), 100),
                TestGpus.second(0));
    }

    @Test
    void factsThatAreThereAreAppendedBeforeTheFirstOfThemIsSent() {
        try (EventPublisher publisher = publisher()) {
            publish(publisher, 1);
            await().until(() -> publisher.status().sent() == 1);

            // Given a publisher that is busy with a fact while three others come
            disk.hang();
            for (int i = 2; i <= 5; i++) {
                publish(publisher, i);
            }
            disk.repair();
            await().until(() -> publisher.status().sent() == 5);

            // Then all were in the outbox when the first of them was sent
            assertThat(producers).singleElement().satisfies(producer -> {
                assertThat(producer.ids).hasSize(5);
                assertThat(producer.appended.subList(1, 5)).containsOnly(producer.appended.getLast());
            });
        }
    }

    @Test
    void nothingConnectsBeforeTheThreadIsPrepared() {
        // Given a preparation that takes long, as loading a library on a busy machine does
        var connectionsBefore = new CopyOnWriteArrayList<Integer>();
        var published = new CountDownLatch(1);

        // When
        try (EventPublisher publisher = publisher(() -> {
            awaitQuietly(published);
            connectionsBefore.add(producers.size());
        })) {
            publish(publisher, 1);
            published.countDown();
            await().until(() -> publisher.status().sent() == 1);
        }

        // Then
        assertThat(connectionsBefore).containsExactly(0);
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void errorWhileConnectingIsFollowedByAnotherTry() {
        // Given a class that cannot be loaded at the first connection
        defects.add(new NoClassDefFoundError("org/apache/kafka/Missing"));

        try (EventPublisher publisher = publisher()) {
            publish(publisher, 1);
            await().until(() -> {
                seconds.incrementAndGet();
                return publisher.status().sent() == 1;
            });

            assertThat(publisher.status().attempts()).isEqualTo(2);
        }
    }

    @Test
    void errorWhileAnEventIsHandledLeavesThePublisherRunning() {
        try (EventPublisher publisher = publisher(() -> {
            throw new NoClassDefFoundError("org/apache/kafka/Missing");
        })) {
            publish(publisher, 1);
            await().until(() -> publisher.status().sent() == 1);
        }

        assertThat(producers).hasSize(1);
    }

    @Test
    void warmUpSendsNothingAndTakesNoSequence() {
        try (EventPublisher publisher = publisher()) {
            publisher.warmUp(
                    List.of(new NodeFact.Allocated("nvidia.com/gpu", List.of("GPU-0"), List.of("envvar"), 100)),
                    TestGpus.second(0));
            publish(publisher, 1);
            await().until(() -> publisher.status().sent() == 1);
        }

        assertThat(producers.getFirst().ids).containsExactly("n1/5/allocation/1");
    }

    @Test
    void nothingIsSentAfterAnEventThatFailedBeforeItWasSent() {
        // Given a producer without metadata for the second event
        failures.add(id -> id.endsWith("/2"));
        try (EventPublisher publisher = publisher()) {
            for (int i = 1; i <= 3; i++) {
                publish(publisher, i);
            }
            await().until(() -> producers.size() == 2 && producers.getLast().ids.size() == 2);
        }

        // Then it sent nothing more, and the next producer sends the failed event first
        assertThat(producers.getFirst().ids).containsExactly("n1/5/allocation/1");
        assertThat(producers.getLast().ids).containsExactly("n1/5/allocation/2", "n1/5/allocation/3");
    }
}
