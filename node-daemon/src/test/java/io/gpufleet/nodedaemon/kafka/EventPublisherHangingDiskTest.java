package io.gpufleet.nodedaemon.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.app.NodeFact;
import io.gpufleet.nodedaemon.kafka.outbox.DeliveredEvents;
import io.gpufleet.nodedaemon.kafka.outbox.FaultyDisk;
import io.gpufleet.nodedaemon.kafka.outbox.Outbox;
import io.gpufleet.nodedaemon.kafka.outbox.OutboxEntry;
import io.gpufleet.nodedaemon.kafka.outbox.OutboxKillProgram;
import io.gpufleet.nodedaemon.model.device.GpuSampleBuilder;
import io.gpufleet.nodedaemon.model.device.TestGpus;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.KafkaClients;
import io.gpufleet.wire.Topic;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The publisher while calls of the disk hang. */
class EventPublisherHangingDiskTest {
    private static final int FAR_TOO_MANY = 20_000;
    private static final long EPOCH = 5;

    @TempDir
    Path directory;

    private static NodeFact allocation(int number) {
        return new NodeFact.Allocated("nvidia.com/gpu", List.of("GPU-" + number), List.of("envvar"), 100);
    }

    private static NodeFact sample() {
        return new NodeFact.Sampled(List.of(GpuSampleBuilder.healthyGpu(0).build()), Map.of());
    }

    @Test
    void publishingNeverBlocksAndEverySequenceArrivesOrIsReportedLost() throws Exception {
        var disk = new FaultyDisk();
        var settings =
                new KafkaSettings(KafkaClients.plain("127.0.0.1:1"), "c1", "gpu.", "n1", "boot-1", directory, 64 << 20);
        try (var publisher = new EventPublisher(
                        settings, EPOCH, () -> TestGpus.second(0), _ -> {}, disk, ProducerConnection.factory(settings))
                .start(Duration.ofHours(1), () -> {})) {
            publisher.publish(allocation(0), TestGpus.second(0));
            publisher.drain(Duration.ofSeconds(30));

            // When the disk hangs, and far more facts are published than the queue holds
            disk.hang();
            for (int i = 1; i <= FAR_TOO_MANY; i++) {
                publisher.publish(i % 100 == 0 ? sample() : allocation(i), TestGpus.second(i));
            }

            // Then publishing did not block, and the loss is counted
            long lost = publisher.status().lost();
            assertThat(lost).isBetween(FAR_TOO_MANY / 2L, FAR_TOO_MANY - 1_000L);

            // When it is repaired
            disk.repair();
            publisher.drain(Duration.ofSeconds(30));
            assertThat(publisher.status().lost()).isEqualTo(lost);
        }

        var delivered = new DeliveredEvents();
        var saved = new ArrayList<OutboxEntry>();
        try (Outbox after = OutboxKillProgram.open(directory, EPOCH + 1, 64 << 20)) {
            for (var next = after.next(); next.isPresent(); next = after.next()) {
                next.flatMap(Outbox.OutgoingEvent::entry).ifPresent(saved::add);
            }
        }
        saved.forEach(delivered::take);
        assertThat(delivered.unexplained()).isEmpty();
        assertThat(saved)
                .filteredOn(entry -> entry.type() == EventType.EVENTS_LOST)
                .extracting(OutboxEntry::topic)
                .containsExactlyInAnyOrder(Topic.ALLOCATION, Topic.TELEMETRY);
    }

    @Test
    void telemetryIsDroppedBeforeTheOldestFacts() {
        var wakeUps = new ArrayList<Boolean>();
        var ingress = new PublisherQueue(() -> wakeUps.add(true));
        ingress.add(sample(), TestGpus.second(0));
        int fit = 0;
        while (ingress.dropped() == 0) {
            ingress.add(allocation(fit), TestGpus.second(fit));
            fit++;
        }

        // Then the sample was dropped first
        assertThat(ingress.takeDropped()).containsExactly(Map.entry(EventType.TELEMETRY_SAMPLED, 1L));
        for (int i = 0; i < fit; i++) {
            ingress.add(allocation(fit + i), TestGpus.second(fit + i));
        }
        long dropped = ingress.takeDropped().getOrDefault(EventType.DEVICES_ALLOCATED, 0L);
        assertThat(dropped).isPositive();
        assertThat(ingress.take()).map(PublisherQueue.PendingFact::fact).contains(allocation((int) dropped));
        assertThat(wakeUps).hasSize(1);

        // When the queue is empty, the next fact wakes up again
        while (ingress.hasMore()) {
            ingress.take();
        }
        ingress.add(allocation(0), TestGpus.second(0));
        assertThat(wakeUps).hasSize(2);
    }
}
