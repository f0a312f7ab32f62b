package io.gpufleet.nodedaemon.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.Fact;
import io.gpufleet.nodedaemon.model.Some;
import io.gpufleet.nodedaemon.model.SomeVitals;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import io.vertx.core.Vertx;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A disk that answers nothing, neither well nor badly. */
class HangingDiskTest {
    private static final int FAR_TOO_MANY = 20_000;
    private static final long EPOCH = 5;

    @TempDir
    Path directory;

    private static Fact grant(int number) {
        return new Fact.Allocated("nvidia.com/gpu", List.of("GPU-" + number), List.of("envvar"), 100);
    }

    private static Fact sample() {
        return new Fact.Sampled(List.of(SomeVitals.well(0).now()), Map.of());
    }

    @Test
    void nobodyWaitsForItAndEveryNumberArrivesOrIsToldLost() throws Exception {
        var disk = new FaultyDisk();
        var settings = new BusSettings("127.0.0.1:1", "c1", "gpu.", "n1", "boot-1", directory, 64 << 20);
        var vertx = Vertx.vertx();
        try (var bus = new Bus(vertx, settings, EPOCH, () -> Some.second(0), _ -> {}, disk)) {
            bus.connectAfter(Duration.ofHours(1));
            bus.publish(grant(0), Some.second(0));
            bus.drain(Duration.ofSeconds(30));

            // When it hangs, and far more is published than may wait
            disk.hang();
            for (int i = 1; i <= FAR_TOO_MANY; i++) {
                bus.publish(i % 100 == 0 ? sample() : grant(i), Some.second(i));
            }

            // Then that came back, and it is known how much is lost
            long lost = bus.view().lost();
            assertThat(lost).isBetween(FAR_TOO_MANY / 2L, FAR_TOO_MANY - 1_000L);

            // When it is well again
            disk.repair();
            bus.drain(Duration.ofSeconds(30));
            assertThat(bus.view().lost()).isEqualTo(lost);
        } finally {
            vertx.close().await();
        }

        var delivered = new Delivered();
        var kept = new ArrayList<OutboxEntry>();
        try (Outbox after = OutboxDrill.open(directory, EPOCH + 1, 64 << 20)) {
            for (var next = after.next(); next.isPresent(); next = after.next()) {
                next.flatMap(Outbox.Outgoing::entry).ifPresent(kept::add);
            }
        }
        kept.forEach(delivered::take);
        assertThat(delivered.unexplained()).isEmpty();
        assertThat(kept)
                .filteredOn(entry -> entry.type() == EventType.EVENTS_LOST)
                .extracting(OutboxEntry::topic)
                .containsExactlyInAnyOrder(Topic.ALLOCATION, Topic.TELEMETRY);
    }

    @Test
    void telemetryGoesFirstAndThenTheOldestFacts() {
        var called = new ArrayList<Boolean>();
        var arrivals = new Arrivals(() -> called.add(true));
        arrivals.add(sample(), Some.second(0));
        int fit = 0;
        while (arrivals.dropped() == 0) {
            arrivals.add(grant(fit), Some.second(fit));
            fit++;
        }

        // Then the sample made room, for some facts more
        assertThat(arrivals.takeDropped()).containsExactly(Map.entry(EventType.TELEMETRY_SAMPLED, 1L));
        for (int i = 0; i < fit; i++) {
            arrivals.add(grant(fit + i), Some.second(fit + i));
        }
        long dropped = arrivals.takeDropped().getOrDefault(EventType.DEVICES_ALLOCATED, 0L);
        assertThat(dropped).isPositive();
        assertThat(arrivals.take()).map(Arrivals.Arrival::fact).contains(grant((int) dropped));
        assertThat(called).hasSize(1);

        // When all are taken, the next one calls again
        while (arrivals.more()) {
            arrivals.take();
        }
        arrivals.add(grant(0), Some.second(0));
        assertThat(called).hasSize(2);
    }
}
