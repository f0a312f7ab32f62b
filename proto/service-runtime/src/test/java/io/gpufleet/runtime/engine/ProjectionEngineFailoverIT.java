package io.gpufleet.runtime.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.runtime.projection.ReplicaRole;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Two replicas: whatever becomes of the active one, every event counts exactly once. */
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
        try (var pen = new NodeEventProducer(bus, "n1", 1000, "b1");
                var active = ReplicaMain.start(bus, "health-service-0")) {
            await().until(() -> active.output().contains("ACTIVE"));
            pen.send(pen.fault("GPU-1", 79, ""));
            await().until(() -> bus.decisionEvidence(true).size() == 1);
            try (var standby = bus.start("health-service-1", projection)) {
                await().until(() -> standby.role() == ReplicaRole.STANDBY);

                // Given a transaction that is open: written, not committed
                pen.send(pen.fault(ReplicaMain.HANG, 79, ""));
                await().until(() -> active.output().contains("IN TRANSACTION"));
                await().until(() -> bus.decisionEvidence(false).contains("n1/1000/health/2"));
                assertThat(bus.decisionEvidence(true)).containsExactly("n1/1000/health/1");

                // When
                active.signal("KILL");

                // Then
                await().until(() -> standby.role() == ReplicaRole.ACTIVE
                        && standby.counters().get("events") == 1);
                pen.send(pen.fault("GPU-3", 79, ""));
                await().until(() -> standby.counters().get("events") == 2);
                assertThat(bus.decisionEvidence(true))
                        .containsExactly("n1/1000/health/1", "n1/1000/health/2", "n1/1000/health/3");
                assertThat(standby.states().get("n1").orElseThrow().getVerdictRevision())
                        .isEqualTo(3);
                assertThat(standby.counters().get("missed")).isZero();
            }
        }
    }

    @Test
    void zombieThatWakesInsideItsTransactionCommitsNothing() throws Exception {
        try (var pen = new NodeEventProducer(bus, "n1", 1000, "b1");
                var zombie = ReplicaMain.start(bus, "health-service-0")) {
            await().until(() -> zombie.output().contains("ACTIVE"));
            try (var standby = bus.start("health-service-1", projection)) {
                await().until(() -> standby.role() == ReplicaRole.STANDBY);
                pen.send(pen.fault(ReplicaMain.HANG, 79, ""));
                await().until(() -> zombie.output().contains("IN TRANSACTION"));

                // Given that it is stopped for so long that another has taken over
                zombie.signal("STOP");
                await().until(() -> standby.role() == ReplicaRole.ACTIVE
                        && standby.counters().get("events") == 1);
                pen.send(pen.fault("GPU-2", 79, ""));
                await().until(() -> standby.counters().get("events") == 2);

                // When
                zombie.signal("CONT");
                zombie.writeLine("now");

                // Then
                await().until(() -> zombie.output().contains("DEACTIVATED"));
                pen.send(pen.fault("GPU-3", 79, ""));
                await().until(() -> standby.counters().get("events") == 3);
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
        try (var pen = new NodeEventProducer(bus, "n1", 1000, "b1")) {
            var active = bus.start("health-service-0", projection);
            await().until(() -> active.role() == ReplicaRole.ACTIVE);
            try (var standby = bus.start("health-service-1", follower)) {
                await().until(() -> standby.role() == ReplicaRole.STANDBY);

                // Given a standby that shows what the active one decided
                pen.send(pen.fault("GPU-1", 79, ""));
                await().until(() -> ProjectionEngineIT.canonical(standby).equals(ProjectionEngineIT.canonical(active))
                        && standby.states().size() > 0);
                await().until(() -> standby.activeAddress().equals("health-service-0:9090"));
                assertThat(follower.applied).isEmpty();

                // When
                active.close();

                // Then its session is not waited for
                await().until(() -> standby.role() == ReplicaRole.ACTIVE);
                pen.send(pen.fault("GPU-2", 79, ""));
                await().until(() -> standby.counters().get("events") == 1);
                assertThat(bus.decisionEvidence(true)).containsExactly("n1/1000/health/1", "n1/1000/health/2");
            }
        }
        assertThat(projection.lifecycle).containsExactly("activated", "deactivated");
        assertThat(follower.lifecycle).containsExactly("activated", "deactivated");
    }

    @Test
    void killedReplicaActsAgainUnderItsOldName() throws Exception {
        try (var pen = new NodeEventProducer(bus, "n1", 1000, "b1")) {
            try (var first = ReplicaMain.start(bus, "health-service-0")) {
                await().until(() -> first.output().contains("ACTIVE"));
                pen.send(pen.fault("GPU-1", 79, ""));
                await().until(() -> bus.decisionEvidence(true).size() == 1);
                first.signal("KILL");
            }
            try (var again = bus.start("health-service-0", projection)) {
                await().until(() -> again.role() == ReplicaRole.ACTIVE);
                pen.send(pen.fault("GPU-2", 79, ""));
                await().until(() -> again.counters().get("events") == 1);
                assertThat(bus.decisionEvidence(true)).containsExactly("n1/1000/health/1", "n1/1000/health/2");
            }
        }
    }
}
