package io.gpufleet.inventory.model;

import static io.gpufleet.inventory.model.TestNodes.T0;
import static io.gpufleet.inventory.model.TestNodes.a100;
import static io.gpufleet.inventory.model.TestNodes.announcement;
import static io.gpufleet.inventory.model.TestNodes.h100;
import static io.gpufleet.inventory.model.TestNodes.migGpu;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.inventory.model.query.FleetQuery;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** The image and its deltas, whatever comes in whatever order. */
class FleetPropertyTest {
    @Property(tries = 300)
    void loadedFleetEqualsTheFleetThatAppliedTheDeltas(@ForAll("deltas") List<FleetDelta> deltas) {
        // Given
        Fleet lived = fleetAfter(deltas);
        // When
        Fleet loaded = Fleet.EMPTY;
        for (NodeState node : lived.nodes().values().reversed()) {
            loaded = loaded.load(node);
        }
        // Then
        assertThat(loaded).isEqualTo(lived);
    }

    @Property(tries = 300)
    void repeatedDeltaChangesNothing(@ForAll("deltas") List<FleetDelta> deltas) {
        Fleet fleet = fleetAfter(deltas);
        Fleet again = fleet.apply(deltas.getLast());
        assertThat(again).isEqualTo(fleet);
    }

    @Property(tries = 300)
    void exactlyTheAnnouncedDevicesAreFound(@ForAll("deltas") List<FleetDelta> deltas) {
        Fleet fleet = fleetAfter(deltas);
        for (NodeState node : fleet.nodes().values()) {
            for (Gpu gpu : node.gpus()) {
                assertThat(fleet.device(gpu.uuid()).orElseThrow().gpu().uuid()).isEqualTo(gpu.uuid());
            }
        }
        long listed = fleet.nodes().values().stream()
                .flatMap(node -> node.gpus().stream())
                .mapToLong(gpu -> 1 + gpu.migInstances().size())
                .sum();
        assertThat(fleet.nodesByDevice().values().stream().mapToInt(List::size).sum())
                .isEqualTo((int) listed);
    }

    @Property(tries = 300)
    void pagesTogetherAreTheWhole(@ForAll("deltas") List<FleetDelta> deltas) {
        Fleet fleet = fleetAfter(deltas);
        for (int size = 1; size <= 3; size++) {
            var seen = new java.util.ArrayList<String>();
            String after = "";
            do {
                var page = FleetQuery.ALL.devices(fleet, after, size);
                page.items()
                        .forEach(place ->
                                seen.add(place.node().name() + place.gpu().index()));
                after = page.next();
            } while (!after.isEmpty());
            assertThat(seen)
                    .isEqualTo(FleetQuery.ALL.devices(fleet, "", 1000).items().stream()
                            .map(place -> place.node().name() + place.gpu().index())
                            .toList())
                    .isSorted();
        }
    }

    @Property(tries = 300)
    void immutableTreeMapEqualsATreeMap(@ForAll("edits") List<Map.Entry<String, Integer>> edits) {
        var expected = new TreeMap<String, Integer>();
        ImmutableTreeMap<Integer> tree = ImmutableTreeMap.empty();
        for (var edit : edits) {
            if (edit.getValue() % 3 == 0) {
                expected.remove(edit.getKey());
                tree = tree.without(edit.getKey());
            } else {
                expected.put(edit.getKey(), edit.getValue());
                tree = tree.with(edit.getKey(), edit.getValue());
            }
        }
        ImmutableTreeMap<Integer> straight = ImmutableTreeMap.empty();
        for (var entry : expected.entrySet()) {
            straight = straight.with(entry.getKey(), entry.getValue());
        }
        assertThat(tree.values()).isEqualTo(List.copyOf(expected.values()));
        assertThat(tree.size()).isEqualTo(expected.size());
        assertThat(tree).isEqualTo(straight);
    }

    private static Fleet fleetAfter(List<FleetDelta> deltas) {
        Fleet fleet = Fleet.EMPTY;
        for (FleetDelta delta : deltas) {
            fleet = fleet.apply(delta);
        }
        return fleet;
    }

    @Provide
    Arbitrary<List<Map.Entry<String, Integer>>> edits() {
        Arbitrary<String> names = Arbitraries.integers().between(0, 30).map(i -> "n" + i);
        return Combinators.combine(names, Arbitraries.integers().between(1, 9))
                .as(Map::entry)
                .list()
                .ofMaxSize(80);
    }

    @Provide
    Arbitrary<List<FleetDelta>> deltas() {
        Arbitrary<String> names = Arbitraries.of("n1", "n2", "n3", "n4");
        Arbitrary<FleetDelta> deltas = Combinators.combine(
                        names,
                        Arbitraries.integers().between(0, 10),
                        Arbitraries.integers().between(0, 3))
                .as(FleetPropertyTest::delta);
        return deltas.list().ofMinSize(1).ofMaxSize(40);
    }

    private static FleetDelta delta(String node, int kind, int variant) {
        return switch (kind) {
            case 0 -> new FleetDelta.NodeAnnounced(node, announcement(a100(variant), a100(variant + 1)));
            case 1 -> new FleetDelta.NodeAnnounced(node, announcement(h100(variant), migGpu(7, "1g.5gb", variant)));
            case 2 -> new FleetDelta.NodeAnnounced(node, announcement());
            case 3 -> new FleetDelta.NodeDeparted(node, "boot-" + variant, T0);
            case 4 -> new FleetDelta.HeartbeatReceived(node, T0);
            case 5 -> new FleetDelta.HeartbeatTimedOut(node, T0);
            case 6 ->
                new FleetDelta.VerdictsChanged(node, new Verdicts("unhealthy", Map.of("GPU-A100-0", "unhealthy")));
            case 7 ->
                new FleetDelta.HoldersChanged(
                        node, List.of(new Holder("ns", "pod-" + variant, "main", List.of("GPU-A100-0"))));
            case 8 -> new FleetDelta.NodeObjectObserved(node, "uid-" + variant, new NodeSettings("c" + variant, ""));
            case 10 -> new FleetDelta.NodeExpired(node);
            case 9 -> new FleetDelta.NodeObjectDeleted(node, "uid-" + variant);
            default -> new FleetDelta.LabelsApplied(node, variant == 0 ? List.of() : List.of("b", "a"));
        };
    }
}
