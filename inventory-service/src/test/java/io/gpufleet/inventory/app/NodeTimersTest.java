package io.gpufleet.inventory.app;

import static io.gpufleet.inventory.model.TestNodes.T0;
import static io.gpufleet.inventory.model.TestNodes.a100;
import static io.gpufleet.inventory.model.TestNodes.announcement;
import static io.gpufleet.inventory.model.TestNodes.node;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.inventory.model.Holder;
import io.gpufleet.inventory.model.NodeDelta;
import io.gpufleet.inventory.model.NodeLossPolicy;
import io.gpufleet.inventory.model.NodeSettings;
import io.gpufleet.inventory.model.NodeState;
import io.gpufleet.inventory.model.Presence;
import io.gpufleet.inventory.model.SnapshotSchedule;
import io.gpufleet.inventory.model.Verdicts;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Silence, loss, retention and snapshots, second by second. */
class NodeTimersTest {
    private static final int PARTITIONS = 32;

    private final FleetView view = new FleetView();
    private final NodeTimers timers =
            new NodeTimers(NodeLossPolicy.STANDARD, new SnapshotSchedule(SnapshotSchedule.INTERVAL), view::suspect);
    private final Map<String, NodeState> states = new HashMap<>();
    private final Map<String, Instant> caughtUpSince = new HashMap<>();
    private Instant now = T0;

    private void fleetOf(int nodes) {
        names(nodes).forEach(name -> states.put(name, node(name, announcement(a100(0)))));
        caughtUp(_ -> true);
        timers.restart(List.copyOf(states.keySet()), now);
    }

    private static List<String> names(int nodes) {
        return IntStream.range(0, nodes).mapToObj(i -> "n" + i).toList();
    }

    /** From now on the partitions of these nodes are read to their end, and no others. */
    private void caughtUp(Predicate<String> which) {
        states.keySet().stream().filter(which.negate()).forEach(caughtUpSince::remove);
        states.keySet().stream().filter(which).forEach(node -> caughtUpSince.putIfAbsent(node, now));
    }

    private Duration readFor(String node) {
        return Duration.between(caughtUpSince.getOrDefault(node, now), now);
    }

    private List<String> due() {
        return timers.due(() -> List.copyOf(states.values()), this::readFor, now).stream()
                .sorted()
                .toList();
    }

    /** Lets seconds pass in which some nodes send heartbeats; returns the nodes that were lost. */
    private List<String> advance(int seconds, List<String> alive) {
        var lost = new ArrayList<String>();
        for (int i = 0; i < seconds; i++) {
            now = now.plusSeconds(1);
            alive.forEach(node -> timers.heard(node, now));
            for (String node : due()) {
                NodeState before = Objects.requireNonNull(states.get(node));
                NodeState after = timers.delta(node).map(before::apply).orElse(before);
                states.put(node, after);
                if (after.presence() instanceof Presence.Lost) {
                    lost.add(node);
                }
            }
        }
        return lost;
    }

    @Test
    void silentNodeIsLostAfterAMinuteWhileOthersSendHeartbeats() {
        fleetOf(3);
        assertThat(advance(60, List.of("n0", "n1"))).isEmpty();
        assertThat(advance(2, List.of("n0", "n1"))).containsExactly("n2");
    }

    @Test
    void onlyNodeOfAFleetIsLostByItsOwnSilence() {
        fleetOf(1);
        assertThat(advance(61, List.of())).containsExactly("n0");
    }

    @Test
    void silenceOfAllNodesIsABusFaultAndNoLoss() {
        fleetOf(3);
        assertThat(advance(300, List.of())).isEmpty();
        assertThat(view.suspected()).containsExactly("n0", "n1", "n2");
        assertThat(advance(1, names(3))).isEmpty();
        assertThat(view.suspected()).isEmpty();
    }

    @Test
    void tooManySilentNodesAreABusFaultAndNoLoss() {
        fleetOf(20);
        assertThat(advance(120, names(14))).isEmpty();
        assertThat(view.suspected()).hasSize(6);
    }

    @Test
    void silentNodesUpToTheLimitAreLost() {
        fleetOf(20);
        assertThat(advance(61, names(15))).hasSize(5);
    }

    @Test
    void lossesOfOneWindowCountTogether() {
        fleetOf(20);
        advance(30, names(16));
        assertThat(advance(31, names(13))).containsExactly("n16", "n17", "n18", "n19");
        assertThat(advance(30, names(13))).isEmpty();
        assertThat(view.suspected()).containsExactly("n13", "n14", "n15");
    }

    @Test
    void nodesOfAPartitionWithoutALeaderAreNotLostAndOthersAreJudgedAsBefore() {
        // Given 3 % of the fleet in one partition: fewer than the limit of a bus fault
        fleetOf(3200);
        Predicate<String> readable = node -> partition(node) != 7;
        List<String> alive = names(3200).stream().filter(readable).skip(3).toList();
        advance(5, names(3200));
        // When
        caughtUp(readable);
        List<String> lost = advance(600, alive);
        // Then
        assertThat(lost)
                .containsExactlyElementsOf(
                        names(3200).stream().filter(readable).limit(3).sorted().toList());
        // Those that nobody can hear are suspected, for as long as nobody can
        assertThat(view.suspected())
                .containsExactlyElementsOf(
                        names(3200).stream().filter(readable.negate()).sorted().toList());

        // When the partition has a leader again, its nodes have a minute
        caughtUp(_ -> true);
        assertThat(advance(60, alive)).isEmpty();
    }

    private static int partition(String node) {
        return Integer.parseInt(node.substring(1)) % PARTITIONS;
    }

    @Test
    void silentNodeIsNotLostWhileNoOtherPartitionIsHeard() {
        fleetOf(3);
        caughtUp("n0"::equals);
        assertThat(advance(300, List.of())).isEmpty();
        assertThat(view.suspected()).containsExactly("n0", "n1", "n2");
    }

    @Test
    void laggingReplicaDeclaresNoLoss() {
        fleetOf(3);
        caughtUp(_ -> false);
        assertThat(advance(300, List.of("n0"))).isEmpty();
        caughtUp(_ -> true);
        assertThat(advance(60, List.of("n0", "n1"))).isEmpty();
        assertThat(advance(2, List.of("n0", "n1"))).containsExactly("n2");
    }

    @Test
    void pausedReplicaDeclaresNoLoss() {
        fleetOf(3);
        advance(30, names(3));
        now = now.plusSeconds(600);
        assertThat(advance(60, List.of("n0"))).isEmpty();
    }

    @Test
    void clockThatIsSetBackDeclaresNoLossAndStopsNoTimer() {
        fleetOf(3);
        advance(30, names(3));
        now = now.minusSeconds(3600);
        caughtUpSince.replaceAll((_, _) -> now);
        assertThat(advance(60, List.of("n0", "n1"))).isEmpty();
        assertThat(advance(3, List.of("n0", "n1"))).containsExactly("n2");
    }

    @Test
    void newTermRestartsTheSilenceTimeoutAndSuspectsNobody() {
        fleetOf(3);
        advance(90, List.of());
        timers.restart(names(3), now);
        assertThat(view.suspected()).isEmpty();
        assertThat(advance(60, List.of("n0", "n1"))).isEmpty();
    }

    @Test
    void dueTimersAreTheSameForASecondPassAtTheSameTime() {
        fleetOf(2);
        advance(60, List.of("n0"));
        now = now.plusSeconds(1);
        timers.heard("n0", now);

        assertThat(due()).containsExactly("n1");
        assertThat(due()).containsExactly("n1");
        assertThat(timers.delta("n1")).contains(new NodeDelta.HeartbeatTimedOut(now));
        now = now.plusMillis(250);
        assertThat(due()).isEmpty();
    }

    @Test
    void unchangedViewIsDueForTheHistoryOncePerInterval() {
        fleetOf(3);
        var snapshots = new ArrayList<String>();
        Instant end = now.plus(Duration.ofHours(4));
        while (now.isBefore(end)) {
            now = now.plusSeconds(1);
            names(3).forEach(node -> timers.heard(node, now));
            due().stream().filter(timers::snapshotDue).forEach(snapshots::add);
        }
        assertThat(snapshots).hasSize(6).containsOnly("n0", "n1", "n2");
    }

    @Test
    void departedNodeExpiresAfterTheRetention() {
        fleetOf(2);
        states.computeIfPresent("n1", (_, node) -> node.apply(new NodeDelta.NodeDeparted("boot-1", now)));
        now = now.plus(NodeTimers.RETENTION).minusSeconds(10);
        due();
        assertThat(timers.delta("n1")).isEmpty();
        now = now.plusSeconds(20);
        due();
        assertThat(timers.delta("n1")).contains(new NodeDelta.NodeExpired());
        assertThat(timers.delta("n0")).isEmpty();
    }

    @Test
    void nodeKnownOnlyByLateHoldersExpires() {
        // Given
        fleetOf(1);
        var late = new Holder("ns", "pod", "main", List.of("GPU-A100-0"));
        states.put("gone", NodeState.unknown("gone").apply(new NodeDelta.HoldersChanged(List.of(late))));
        caughtUp(_ -> true);
        timers.heard("gone", now);
        // When
        advance((int) NodeTimers.UNANNOUNCED_RETENTION.toSeconds(), List.of("n0"));
        assertThat(timers.delta("gone")).isEmpty();
        advance(1, List.of("n0"));
        // Then
        assertThat(timers.delta("gone")).contains(new NodeDelta.NodeExpired());
    }

    @Test
    void nodeWithoutAnnouncementIsKeptByItsNodeObjectAVerdictOrAnUnreadPartition() {
        // Given
        fleetOf(1);
        var holders = new NodeDelta.HoldersChanged(List.of(new Holder("ns", "pod", "main", List.of("GPU-A100-0"))));
        states.put("cpu", NodeState.unknown("cpu").apply(new NodeDelta.NodeObjectObserved("uid-1", NodeSettings.NONE)));
        states.put(
                "judged",
                NodeState.unknown("judged").apply(new NodeDelta.VerdictsChanged(new Verdicts("unhealthy", Map.of()))));
        states.put("unread", NodeState.unknown("unread").apply(holders));
        caughtUp(node -> !node.equals("unread"));
        // When
        advance(1200, List.of("n0"));
        // Then
        assertThat(List.of("cpu", "judged", "unread"))
                .allMatch(node -> timers.delta(node).isEmpty());
    }
}
