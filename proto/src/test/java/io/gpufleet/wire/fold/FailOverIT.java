package io.gpufleet.wire.fold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Two replicas: whatever becomes of the active one, every event counts exactly once. */
@NullMarked
class FailOverIT {
    private final Bus bus = Bus.fresh();
    private final CountingFold fold = new CountingFold();

    @BeforeEach
    void waitLong() {
        Awaitility.setDefaultTimeout(Duration.ofSeconds(40));
    }

    @Test
    void standbyTakesOverFromAReplicaKilledInsideItsTransaction() throws Exception {
        try (var pen = new NodePen(bus, "n1", 1000, "b1");
                var active = Replica.start(bus, "s-0")) {
            await().until(() -> active.said.contains("ACTIVE"));
            pen.send(pen.fault("GPU-1", 79, ""));
            await().until(() -> bus.decided(true).size() == 1);
            try (var standby = bus.start("s-1", fold)) {
                await().until(() -> standby.role() == Role.STANDBY);

                // Given a transaction that is open: written, not committed
                pen.send(pen.fault("GPU-2", 79, ReplicaMain.HANG));
                await().until(() -> active.said.contains("IN TRANSACTION"));
                await().until(() -> bus.decided(false).contains("n1/1000/health/2"));
                assertThat(bus.decided(true)).containsExactly("n1/1000/health/1");

                // When
                active.signal("KILL");

                // Then
                await().until(() ->
                        standby.role() == Role.ACTIVE && standby.counters().folded() == 1);
                pen.send(pen.fault("GPU-3", 79, ""));
                await().until(() -> standby.counters().folded() == 2);
                assertThat(bus.decided(true))
                        .containsExactly("n1/1000/health/1", "n1/1000/health/2", "n1/1000/health/3");
                assertThat(fold.of("n1").getVerdictRevision()).isEqualTo(3);
                assertThat(standby.counters().missed()).isZero();
            }
        }
    }

    @Test
    void zombieThatWakesInsideItsTransactionCommitsNothing() throws Exception {
        try (var pen = new NodePen(bus, "n1", 1000, "b1");
                var zombie = Replica.start(bus, "s-0")) {
            await().until(() -> zombie.said.contains("ACTIVE"));
            try (var standby = bus.start("s-1", fold)) {
                await().until(() -> standby.role() == Role.STANDBY);
                pen.send(pen.fault("GPU-1", 79, ReplicaMain.HANG));
                await().until(() -> zombie.said.contains("IN TRANSACTION"));

                // Given that it is stopped for so long that another has taken over
                zombie.signal("STOP");
                await().until(() ->
                        standby.role() == Role.ACTIVE && standby.counters().folded() == 1);
                pen.send(pen.fault("GPU-2", 79, ""));
                await().until(() -> standby.counters().folded() == 2);

                // When
                zombie.signal("CONT");
                zombie.tell("now");

                // Then
                await().until(() -> zombie.said.contains("DEACTIVATED"));
                pen.send(pen.fault("GPU-3", 79, ""));
                await().until(() -> standby.counters().folded() == 3);
                assertThat(bus.decided(true))
                        .containsExactly("n1/1000/health/1", "n1/1000/health/2", "n1/1000/health/3");
                assertThat(standby.role()).isEqualTo(Role.ACTIVE);
                assertThat(fold.life).containsExactly("activated");
            }
        }
    }

    @Test
    void standbyFollowsAndTakesOverWhenTheActiveOneLeavesInGoodOrder() {
        var follower = new CountingFold();
        try (var pen = new NodePen(bus, "n1", 1000, "b1")) {
            var active = bus.start("s-0", fold);
            await().until(() -> active.role() == Role.ACTIVE);
            try (var standby = bus.start("s-1", follower)) {
                await().until(() -> standby.role() == Role.STANDBY);

                // Given a standby that shows what the active one decided
                pen.send(pen.fault("GPU-1", 79, ""));
                await().until(() ->
                        FoldIT.canonical(follower).equals(FoldIT.canonical(fold)) && !follower.state.isEmpty());
                await().until(() -> standby.activeAddress().equals("s-0:9090"));
                assertThat(follower.folded).isEmpty();

                // When
                active.close();

                // Then its session is not waited for
                await().until(() -> standby.role() == Role.ACTIVE);
                pen.send(pen.fault("GPU-2", 79, ""));
                await().until(() -> standby.counters().folded() == 1);
                assertThat(bus.decided(true)).containsExactly("n1/1000/health/1", "n1/1000/health/2");
            }
        }
        assertThat(fold.life).containsExactly("activated", "deactivated");
        assertThat(follower.life).containsExactly("activated", "deactivated");
    }

    @Test
    void killedReplicaActsAgainUnderItsOldName() throws Exception {
        try (var pen = new NodePen(bus, "n1", 1000, "b1")) {
            try (var first = Replica.start(bus, "s-0")) {
                await().until(() -> first.said.contains("ACTIVE"));
                pen.send(pen.fault("GPU-1", 79, ""));
                await().until(() -> bus.decided(true).size() == 1);
                first.signal("KILL");
            }
            try (var again = bus.start("s-0", fold)) {
                await().until(() -> again.role() == Role.ACTIVE);
                pen.send(pen.fault("GPU-2", 79, ""));
                await().until(() -> again.counters().folded() == 1);
                assertThat(bus.decided(true)).containsExactly("n1/1000/health/1", "n1/1000/health/2");
            }
        }
    }
}
