package io.gpufleet.inventory.app;

import static io.gpufleet.inventory.model.Machines.T0;
import static io.gpufleet.inventory.model.Machines.a100;
import static io.gpufleet.inventory.model.Machines.announcement;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.gpufleet.inventory.model.FleetDelta;
import io.gpufleet.inventory.model.Keyframes;
import io.gpufleet.inventory.model.NodeImage;
import io.gpufleet.inventory.model.NodeSettings;
import io.gpufleet.inventory.model.Presence;
import io.gpufleet.inventory.model.SilenceRule;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Silence, loss and keyframes, second by second. */
class InventoryTest {
    private final Inventory inventory = new Inventory(SilenceRule.STANDARD, new Keyframes(Keyframes.INTERVAL));
    private Instant now = T0;

    private void fleetOf(int nodes) {
        inventory.activated(now);
        names(nodes).forEach(name -> inventory.apply(new FleetDelta.Announced(name, announcement(a100(0))), now));
    }

    private static List<String> names(int nodes) {
        return IntStream.range(0, nodes).mapToObj(i -> "n" + i).toList();
    }

    /** Lets seconds pass in which some nodes send heartbeats; returns the nodes that were lost. */
    private List<String> pass(int seconds, boolean caughtUp, List<String> speaking) {
        var lost = new ArrayList<String>();
        for (int i = 0; i < seconds; i++) {
            now = now.plusSeconds(1);
            speaking.forEach(node -> inventory.heard(node, now, now));
            inventory.tick(caughtUp, now).stream()
                    .flatMap(change -> change.after().stream())
                    .filter(node -> node.presence() instanceof Presence.Lost)
                    .map(NodeImage::name)
                    .forEach(lost::add);
        }
        return lost;
    }

    @Test
    void silentNodeIsLostAfterAMinuteWhileOthersAreHeard() {
        fleetOf(3);
        assertThat(pass(60, true, List.of("n0", "n1"))).isEmpty();
        assertThat(pass(2, true, List.of("n0", "n1"))).containsExactly("n2");
    }

    @Test
    void onlyNodeOfAFleetIsLostByItsOwnSilence() {
        fleetOf(1);
        assertThat(pass(61, true, List.of())).containsExactly("n0");
    }

    @Test
    void silenceOfAllIsTheBusAndNobodysLoss() {
        fleetOf(3);
        assertThat(pass(300, true, List.of())).isEmpty();
        assertThat(inventory.suspected()).containsExactly("n0", "n1", "n2");
        assertThat(pass(1, true, names(3))).isEmpty();
        assertThat(inventory.suspected()).isEmpty();
    }

    @Test
    void manyAtOnceAreTheBusAndNobodysLoss() {
        fleetOf(20);
        assertThat(pass(120, true, names(14))).isEmpty();
        assertThat(inventory.suspected()).hasSize(6);
    }

    @Test
    void asManyAsAllowedAreLost() {
        fleetOf(20);
        assertThat(pass(61, true, names(15))).hasSize(5);
    }

    @Test
    void lossesOfOneWindowCountTogether() {
        fleetOf(20);
        pass(30, true, names(16));
        assertThat(pass(31, true, names(13))).containsExactly("n16", "n17", "n18", "n19");
        assertThat(pass(30, true, names(13))).isEmpty();
        assertThat(inventory.suspected()).containsExactly("n13", "n14", "n15");
    }

    @Test
    void whoLagsBehindLosesNobody() {
        fleetOf(3);
        assertThat(pass(300, false, List.of("n0"))).isEmpty();
        assertThat(pass(60, true, List.of("n0", "n1"))).isEmpty();
        assertThat(pass(2, true, List.of("n0", "n1"))).containsExactly("n2");
    }

    @Test
    void standstillOfOurOwnLosesNobody() {
        fleetOf(3);
        pass(30, true, names(3));
        now = now.plusSeconds(600);
        assertThat(pass(60, true, List.of("n0"))).isEmpty();
    }

    @Test
    void clockStartsAnewWithATerm() {
        fleetOf(3);
        pass(50, true, List.of("n0", "n1"));
        inventory.activated(now);
        assertThat(pass(60, true, List.of("n0", "n1"))).isEmpty();
    }

    @Test
    void lostNodeThatIsHeardAgainIsPresent() {
        fleetOf(2);
        pass(62, true, List.of("n0"));
        var change = inventory.heard("n1", now, now).orElseThrow();
        assertThat(change.before().presence()).isInstanceOf(Presence.Lost.class);
        assertThat(change.after().orElseThrow().presence()).isEqualTo(new Presence.Present(now));
    }

    @Test
    void unchangedViewIsDueForTheHistoryOncePerInterval() {
        fleetOf(3);
        var due = new ArrayList<NodeImage>();
        Instant end = now.plus(Duration.ofHours(4)).plusSeconds(1);
        for (; now.isBefore(end); now = now.plus(Duration.ofMinutes(1))) {
            due.addAll(inventory.keyframes(now));
        }
        assertThat(due).extracting(NodeImage::name).hasSize(6).containsOnly("n0", "n1", "n2");
    }

    @Test
    void readersSeeWhatIsCommitted() {
        fleetOf(1);
        assertThat(inventory.readable().node("n0")).isEmpty();
        inventory.publish();
        assertThat(inventory.readable().node("n0")).isPresent();
    }

    @Test
    void nodeThatIsAwayForLongIsForgotten() {
        fleetOf(2);
        inventory.apply(new FleetDelta.Departed("n1", "boot-1", now), now);
        now = now.plus(Inventory.REMEMBERED).minusSeconds(10);
        assertThat(inventory.tick(true, now)).isEmpty();
        now = now.plusSeconds(20);
        assertThat(inventory.tick(true, now))
                .extracting(
                        change -> change.before().name(),
                        change -> change.after().isEmpty())
                .containsExactly(tuple("n1", true));
    }

    @Test
    void nodeThatIsAwayGoesWithItsObjectAndOneThatIsHeardStays() {
        fleetOf(2);
        for (String node : names(2)) {
            inventory.apply(new FleetDelta.ObjectSeen(node, "uid", NodeSettings.NONE), now);
        }
        inventory.apply(new FleetDelta.Departed("n1", "boot-1", now), now);
        for (String node : names(2)) {
            inventory.apply(new FleetDelta.ObjectGone(node, "uid"), now);
        }
        assertThat(inventory.node("n0").nodeUid()).isEmpty();
        assertThat(inventory.node("n0").announced()).isPresent();
        assertThat(inventory.node("n1").empty()).isTrue();
    }
}
