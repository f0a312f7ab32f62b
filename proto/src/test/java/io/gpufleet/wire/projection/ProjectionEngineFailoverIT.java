package io.gpufleet.wire.projection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Two replicas: every event counts exactly once after any failure of the active one. */
@NullMarked
class ProjectionEngineFailoverIT {
    private final TestBus bus = TestBus.withNewPrefix();
    private final CountingProjection projection = new CountingProjection();

    @BeforeEach
    void waitLong() {
        Awaitility.setDefaultTimeout(Duration.ofSeconds(40));
    }

    @Test
    void standbyTakesOverFromAReplicaKilledInsideItsTransaction() throws Exception {
        try (var producer = new NodeEventProducer(bus, "n1", 1000, "b1");
                var active = ReplicaProcess.start(bus, "s-0")) {
            await().until(() -> active.output.contains("ACTIVE"));
            producer.send(producer.fault("GPU-1", 79, ""));
            await().until(() -> bus.decisionEvidence(true).size() == 1);
            try (var standby = bus.start("s-1", projection)) {
                await().until(() -> standby.role() == ReplicaRole.STANDBY);

                // Given an open transaction: written, not committed
                producer.send(producer.fault("GPU-2", 79, ReplicaMain.HANG));
                await().until(() -> active.output.contains("IN TRANSACTION"));
                await().until(() -> bus.decisionEvidence(false).contains("n1/1000/health/2"));
                assertThat(bus.decisionEvidence(true)).containsExactly("n1/1000/health/1");

                // When
                active.signal("KILL");

                // Then
                await().until(() -> standby.role() == ReplicaRole.ACTIVE
                        && standby.counters().folded() == 1);
                producer.send(producer.fault("GPU-3", 79, ""));
                await().until(() -> standby.counters().folded() == 2);
                assertThat(bus.decisionEvidence(true))
                        .containsExactly("n1/1000/health/1", "n1/1000/health/2", "n1/1000/health/3");
                assertThat(projection.of("n1").getVerdictRevision()).isEqualTo(3);
                assertThat(standby.counters().missed()).isZero();
            }
        }
    }

    @Test
    void zombieThatResumesInsideItsTransactionCommitsNothing() throws Exception {
        try (var producer = new NodeEventProducer(bus, "n1", 1000, "b1");
                var zombie = ReplicaProcess.start(bus, "s-0")) {
            await().until(() -> zombie.output.contains("ACTIVE"));
            try (var standby = bus.start("s-1", projection)) {
                await().until(() -> standby.role() == ReplicaRole.STANDBY);
                producer.send(producer.fault("GPU-1", 79, ReplicaMain.HANG));
                await().until(() -> zombie.output.contains("IN TRANSACTION"));

                // Given a pause so long that the standby has taken over
                zombie.signal("STOP");
                await().until(() -> standby.role() == ReplicaRole.ACTIVE
                        && standby.counters().folded() == 1);
                producer.send(producer.fault("GPU-2", 79, ""));
                await().until(() -> standby.counters().folded() == 2);

                // When
                zombie.signal("CONT");
                zombie.writeLine("now");

                // Then
                await().until(() -> zombie.output.contains("DEACTIVATED"));
                producer.send(producer.fault("GPU-3", 79, ""));
                await().until(() -> standby.counters().folded() == 3);
                assertThat(bus.decisionEvidence(true))
                        .containsExactly("n1/1000/health/1", "n1/1000/health/2", "n1/1000/health/3");
                assertThat(standby.role()).isEqualTo(ReplicaRole.ACTIVE);
                assertThat(projection.lifecycle).containsExactly("activated");
            }
        }
    }

    @Test
    void standbyFollowsAndTakesOverWhenTheActiveReplicaStopsGracefully() {
        var follower = new CountingProjection();
        try (var producer = new NodeEventProducer(bus, "n1", 1000, "b1")) {
            var active = bus.start("s-0", projection);
            await().until(() -> active.role() == ReplicaRole.ACTIVE);
            try (var standby = bus.start("s-1", follower)) {
                await().until(() -> standby.role() == ReplicaRole.STANDBY);

                // Given a standby with the state of the active replica
                producer.send(producer.fault("GPU-1", 79, ""));
                await().until(() ->
                        ProjectionEngineIT.canonical(follower).equals(ProjectionEngineIT.canonical(projection))
                                && !follower.state.isEmpty());
                await().until(() -> standby.activeAddress().equals("s-0:9090"));
                assertThat(follower.folded).isEmpty();

                // When
                active.close();

                // Then the standby does not wait for the session timeout
                await().until(() -> standby.role() == ReplicaRole.ACTIVE);
                producer.send(producer.fault("GPU-2", 79, ""));
                await().until(() -> standby.counters().folded() == 1);
                assertThat(bus.decisionEvidence(true)).containsExactly("n1/1000/health/1", "n1/1000/health/2");
            }
        }
        assertThat(projection.lifecycle).containsExactly("activated", "deactivated");
        assertThat(follower.lifecycle).containsExactly("activated", "deactivated");
    }

    @Test
    void killedReplicaActsAgainUnderItsOldName() throws Exception {
        try (var producer = new NodeEventProducer(bus, "n1", 1000, "b1")) {
            try (var first = ReplicaProcess.start(bus, "s-0")) {
                await().until(() -> first.output.contains("ACTIVE"));
                producer.send(producer.fault("GPU-1", 79, ""));
                await().until(() -> bus.decisionEvidence(true).size() == 1);
                first.signal("KILL");
            }
            try (var again = bus.start("s-0", projection)) {
                await().until(() -> again.role() == ReplicaRole.ACTIVE);
                producer.send(producer.fault("GPU-2", 79, ""));
                await().until(() -> again.counters().folded() == 1);
                assertThat(bus.decisionEvidence(true)).containsExactly("n1/1000/health/1", "n1/1000/health/2");
            }
        }
    }
}
