package io.gpufleet.wire.fold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.compose.broker.BrokerProcess;
import java.nio.file.Path;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The broker dies and comes back: nothing is lost, nothing counts twice, and nobody crashes. */
@NullMarked
class BrokerTroubleIT {
    private final CountingFold fold = new CountingFold();

    @BeforeEach
    void waitLong() {
        Awaitility.setDefaultTimeout(Duration.ofSeconds(60));
    }

    @Test
    void brokerKilledInTheMiddleCostsNothing(@TempDir Path dir) throws Exception {
        try (var broker = BrokerProcess.start(dir)) {
            Bus bus = Bus.on(broker);
            try (var pen = new NodePen(bus, "n1", 1000, "b1");
                    var engine = bus.start("s-0", fold)) {
                // Given
                await().until(() -> engine.role() == Role.ACTIVE);
                Thread writer = Thread.ofPlatform().start(() -> {
                    for (int i = 0; i < 400; i++) {
                        pen.send(pen.fault("GPU-" + i % 8, i, ""));
                    }
                });
                await().until(() -> engine.counters().folded() > 20);

                // When
                broker.kill();
                broker.restart();

                // Then
                assertThat(writer.join(Duration.ofSeconds(60))).isTrue();
                await().until(() -> bus.decided(true).size() >= 400);
                assertThat(bus.decided(true)).hasSize(400).doesNotHaveDuplicates();
                await().until(() -> engine.role() == Role.ACTIVE);
                await().until(() -> fold.of("n1").getVerdictRevision() == 400);
                assertThat(engine.failure()).isEmpty();
            }
        }
    }

    @Test
    void engineWaitsForABrokerThatIsNotThereYet(@TempDir Path dir) {
        try (var broker = BrokerProcess.start(dir)) {
            Bus bus = Bus.on(broker);
            broker.stop();
            try (var engine = bus.start("s-0", fold)) {
                // Given
                await().until(() -> engine.notReady().toString().contains(": "));
                assertThat(engine.role()).isEqualTo(Role.STARTING);

                // When
                broker.restart();

                // Then
                await().until(() -> engine.role() == Role.ACTIVE);
                assertThat(engine.notReady()).isEmpty();
            }
        }
    }
}
