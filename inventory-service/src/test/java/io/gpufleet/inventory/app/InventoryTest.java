package io.gpufleet.inventory.app;

import static io.gpufleet.inventory.model.TestNodes.T0;
import static io.gpufleet.inventory.model.TestNodes.a100;
import static io.gpufleet.inventory.model.TestNodes.announcement;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.gpufleet.inventory.model.FleetDelta;
import io.gpufleet.inventory.model.NodeLossPolicy;
import io.gpufleet.inventory.model.NodeSettings;
import io.gpufleet.inventory.model.NodeState;
import io.gpufleet.inventory.model.Presence;
import io.gpufleet.inventory.model.SnapshotSchedule;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Silence, loss, retention and snapshots, second by second. */
class InventoryTest {
    private final Inventory inventory =
            new Inventory(NodeLossPolicy.STANDARD, new SnapshotSchedule(SnapshotSchedule.INTERVAL));
    private Instant now = T0;

    private void fleetOf(int nodes) {
        inventory.activated(now);
        names(nodes).forEach(name -> inventory.apply(new FleetDelta.NodeAnnounced(name, announcement(a100(0))), now));
    }

    private static List<String> names(int nodes) {
        return IntStream.range(0, nodes).mapToObj(i -> "n" + i).toList();
    }

    /** Lets seconds pass in which some nodes send heartbeats; returns the nodes that were lost. */
    private List<String> advance(int seconds, boolean caughtUp, List<String> alive) {
        var lost = new ArrayList<String>();
        for (int i = 0; i < seconds; i++) {
            now = now.plusSeconds(1);
            alive.forEach(node -> inventory.onHeartbeat(node, now, now));
            inventory.tick(caughtUp, now).stream()
                    .flatMap(change -> change.after().stream())
                    .filter(node -> node.presence() instanceof Presence.Lost)
                    .map(NodeState::name)
                    .forEach(lost::add);
        }
        return lost;
    }

    @Test
    void silentNodeIsLostAfterAMinuteWhileOthersSendHeartbeats() {
        fleetOf(3);
        assertThat(advance(60, true, List.of("n0", "n1"))).isEmpty();
        assertThat(advance(2, true, List.of("n0", "n1"))).containsExactly("n2");
    }

    @Test
    void onlyNodeOfAFleetIsLostByItsOwnSilence() {
        fleetOf(1);
        assertThat(advance(61, true, List.of())).containsExactly("n0");
    }

    @Test
    void silenceOfAllNodesIsABusFaultAndNoLoss() {
        fleetOf(3);
        assertThat(advance(300, true, List.of())).isEmpty();
        assertThat(inventory.suspected()).containsExactly("n0", "n1", "n2");
        assertThat(advance(1, true, names(3))).isEmpty();
        assertThat(inventory.suspected()).isEmpty();
    }

    @Test
    void tooManySilentNodesAreABusFaultAndNoLoss() {
        fleetOf(20);
        assertThat(advance(120, true, names(14))).isEmpty();
        assertThat(inventory.suspected()).hasSize(6);
    }

    @Test
    void silentNodesUpToTheLimitAreLost() {
        fleetOf(20);
        assertThat(advance(61, true, names(15))).hasSize(5);
    }

    @Test
    void lossesOfOneWindowCountTogether() {
        fleetOf(20);
        advance(30, true, names(16));
        assertThat(advance(31, true, names(13))).containsExactly("n16", "n17", "n18", "n19");
        assertThat(advance(30, true, names(13))).isEmpty();
        assertThat(inventory.suspected()).containsExactly("n13", "n14", "n15");
    }

    @Test
    void laggingReplicaDeclaresNoLoss() {
        fleetOf(3);
        assertThat(advance(300, false, List.of("n0"))).isEmpty();
        assertThat(advance(60, true, List.of("n0", "n1"))).isEmpty();
        assertThat(advance(2, true, List.of("n0", "n1"))).containsExactly("n2");
    }

    @Test
    void pausedReplicaDeclaresNoLoss() {
        fleetOf(3);
        advance(30, true, names(3));
        now = now.plusSeconds(600);
        assertThat(advance(60, true, List.of("n0"))).isEmpty();
    }

    @Test
    void activationRestartsTheSilenceTimeout() {
        fleetOf(3);
        advance(50, true, List.of("n0", "n1"));
        inventory.activated(now);
        assertThat(advance(60, true, List.of("n0", "n1"))).isEmpty();
    }

    @Test
    void lostNodeIsPresentAfterAHeartbeat() {
        fleetOf(2);
        advance(62, true, List.of("n0"));
        var change = inventory.onHeartbeat("n1", now, now).orElseThrow();
        assertThat(change.before().presence()).isInstanceOf(Presence.Lost.class);
        assertThat(change.after().orElseThrow().presence()).isEqualTo(new Presence.Present(now));
    }

    @Test
    void unchangedViewIsDueForTheHistoryOncePerInterval() {
        fleetOf(3);
        var due = new ArrayList<NodeState>();
        Instant end = now.plus(Duration.ofHours(4)).plusSeconds(1);
        for (; now.isBefore(end); now = now.plus(Duration.ofMinutes(1))) {
            due.addAll(inventory.snapshots(now));
        }
        assertThat(due).extracting(NodeState::name).hasSize(6).containsOnly("n0", "n1", "n2");
    }

    @Test
    void readersSeeOnlyCommittedState() {
        fleetOf(1);
        assertThat(inventory.committed().node("n0")).isEmpty();
        inventory.commit();
        assertThat(inventory.committed().node("n0")).isPresent();
    }

    @Test
    void departedNodeExpiresAfterTheRetention() {
        fleetOf(2);
        inventory.apply(new FleetDelta.NodeDeparted("n1", "boot-1", now), now);
        now = now.plus(Inventory.RETENTION).minusSeconds(10);
        assertThat(inventory.tick(true, now)).isEmpty();
        now = now.plusSeconds(20);
        assertThat(inventory.tick(true, now))
                .extracting(
                        change -> change.before().name(),
                        change -> change.after().isEmpty())
                .containsExactly(tuple("n1", true));
    }

    @Test
    void departedNodeIsRemovedWithItsNodeObjectAndPresentNodeStays() {
        fleetOf(2);
        for (String node : names(2)) {
            inventory.apply(new FleetDelta.NodeObjectObserved(node, "uid", NodeSettings.NONE), now);
        }
        inventory.apply(new FleetDelta.NodeDeparted("n1", "boot-1", now), now);
        for (String node : names(2)) {
            inventory.apply(new FleetDelta.NodeObjectDeleted(node, "uid"), now);
        }
        assertThat(inventory.node("n0").object().uid()).isEmpty();
        assertThat(inventory.node("n0").lastAnnouncement()).isPresent();
        assertThat(inventory.node("n1").isEmpty()).isTrue();
    }
}
