package io.gpufleet.runtime.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.runtime.projection.ProjectionSettings;
import io.gpufleet.runtime.projection.ReplicaRole;
import io.gpufleet.testbed.kafka.BrokerProcess;
import java.nio.file.Path;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A broker that is killed and restarted loses no event, duplicates none and stops no engine. */
@NullMarked
class ProjectionEngineBrokerOutageIT {
    private final CountingProjection projection = new CountingProjection();

    @BeforeEach
    void waitLong() {
        Awaitility.setDefaultTimeout(Duration.ofSeconds(60));
    }

    @Test
    void killedBrokerLosesAndDuplicatesNothing(@TempDir Path dir) throws Exception {
        try (var broker = BrokerProcess.start(dir)) {
            TestBus bus = TestBus.onBroker(broker);
            try (var producer = new NodeEventProducer(bus, "n1", 1000, "b1");
                    var engine = bus.start("health-service-0", projection)) {
                // Given
                await().until(() -> engine.role() == ReplicaRole.ACTIVE);
                Thread writer = Thread.ofPlatform().start(() -> {
                    for (int i = 0; i < 400; i++) {
                        producer.send(producer.fault("GPU-" + i % 8, i, ""));
                    }
                });
                await().until(() -> engine.counters().get("events") > 20);

                // When
                broker.kill();
                broker.restart();

                // Then
                assertThat(writer.join(Duration.ofSeconds(60))).isTrue();
                await().until(() -> bus.decisionEvidence(true).size() >= 400);
                assertThat(bus.decisionEvidence(true)).hasSize(400).doesNotHaveDuplicates();
                await().until(() -> engine.role() == ReplicaRole.ACTIVE);
                await().until(() -> engine.states().get("n1").orElseThrow().getVerdictRevision() == 400);
                assertThat(engine.failure()).isEmpty();
            }
        }
    }

    /**
     * The bound is the promise itself, no measurement: a dead broker is known to operators within the session, counted from
     * its kill. It is therefore the session of a real service, not that of other tests.
     */
    @Test
    void killedBrokerIsReportedByLeaderAndStandbyWithinTheSession(@TempDir Path dir) throws Exception {
        try (var broker = BrokerProcess.start(dir);
                var log = new CapturedLog("io.gpufleet.runtime")) {
            TestBus bus = TestBus.onBroker(broker);
            try (var leader = bus.startAsShipped("health-service-0", projection)) {
                await().until(leader::active);
                try (var standby = bus.startAsShipped("health-service-1", new CountingProjection())) {
                    // Given
                    await().until(() -> standby.role() == ReplicaRole.STANDBY);
                    await().until(() -> leader.readinessFailures().isEmpty()
                            && standby.readinessFailures().isEmpty());

                    // When
                    long killed = System.nanoTime();
                    broker.kill();

                    // Then
                    await().atMost(ProjectionSettings.SESSION.minusNanos(System.nanoTime() - killed))
                            .untilAsserted(() -> {
                                assertThat(leader.counters().values().getFirst())
                                        .isZero();
                                assertThat(leader.readinessFailures().toString())
                                        .contains("has not answered for");
                                assertThat(standby.readinessFailures().toString())
                                        .contains("has not answered for");
                                assertThat(log.messages())
                                        .filteredOn("Kafka does not answer"::equals)
                                        .hasSize(2);
                            });
                }
            }
        }
    }

    @Test
    void engineWaitsForABrokerThatIsNotThereYet(@TempDir Path dir) {
        try (var broker = BrokerProcess.start(dir)) {
            TestBus bus = TestBus.onBroker(broker);
            broker.stop();
            try (var engine = bus.start("health-service-0", projection)) {
                // Given
                await().until(() -> engine.readinessFailures().toString().contains(": "));
                assertThat(engine.role()).isEqualTo(ReplicaRole.STARTING);

                // When
                broker.restart();

                // Then
                await().until(() -> engine.role() == ReplicaRole.ACTIVE);
                assertThat(engine.readinessFailures()).isEmpty();
            }
        }
    }
}
