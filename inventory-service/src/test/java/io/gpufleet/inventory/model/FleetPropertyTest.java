package io.gpufleet.inventory.model;

import static io.gpufleet.inventory.model.TestNodes.T0;
import static io.gpufleet.inventory.model.TestNodes.a100;
import static io.gpufleet.inventory.model.TestNodes.announcement;
import static io.gpufleet.inventory.model.TestNodes.h100;
import static io.gpufleet.inventory.model.TestNodes.migGpu;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.inventory.app.FleetView;
import io.gpufleet.inventory.model.query.FleetQuery;
import io.gpufleet.inventory.model.query.IndexedFleet;
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
    /** A delta of one node. */
    private record NodeChange(String node, NodeDelta delta) {}

    @Property(tries = 300)
    void fleetOfTheLastStatesEqualsTheFleetThatSawEveryChange(@ForAll("changes") List<NodeChange> changes) {
        // Given
        Fleet lived = fleetAfter(changes);
        // When
        Fleet restored = Fleet.EMPTY;
        for (NodeState node : lived.nodes().values().reversed()) {
            restored = restored.with(node);
        }
        // Then
        assertThat(restored).isEqualTo(lived);
    }

    @Property(tries = 300)
    void repeatedDeltaChangesNothing(@ForAll("changes") List<NodeChange> changes) {
        Fleet fleet = fleetAfter(changes);
        assertThat(fleetAfter(fleet, changes.getLast())).isEqualTo(fleet);
    }

    @Property(tries = 300)
    void exactlyTheAnnouncedDevicesAreFound(@ForAll("changes") List<NodeChange> changes) {
        Fleet fleet = fleetAfter(changes);
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
    void pagesTogetherAreTheWhole(@ForAll("changes") List<NodeChange> changes) {
        IndexedFleet fleet = indexedAfter(changes);
        for (int size = 1; size <= 3; size++) {
            var seen = new java.util.ArrayList<String>();
            FleetQuery.Page<Fleet.GpuLocation> page;
            do {
                page = FleetQuery.ALL.devices(fleet, seen.isEmpty() ? "" : seen.getLast(), size);
                page.items().forEach(location -> seen.add(FleetQuery.position(location)));
            } while (page.more());
            assertThat(seen)
                    .isEqualTo(FleetQuery.ALL.devices(fleet, "", 1000).items().stream()
                            .map(FleetQuery::position)
                            .toList())
                    .isSorted();
        }
    }

    @Property(tries = 300)
    void indexFindsWhatAScanFinds(@ForAll("changes") List<NodeChange> changes, @ForAll("queries") FleetQuery query) {
        IndexedFleet fleet = indexedAfter(changes);
        var scanned = new java.util.ArrayList<String>();
        for (NodeState node : fleet.fleet().nodes().values()) {
            IndexedFleet alone = IndexedFleet.EMPTY.with(node);
            var named = new FleetQuery(query.model(), node.name(), query.health(), query.presence(), query.namespace());
            named.nodes(alone, "", 9).items().forEach(found -> scanned.add(found.name()));
        }
        assertThat(query.nodes(fleet, "", 1000).items())
                .extracting(NodeState::name)
                .isEqualTo(scanned);
    }

    @Provide
    Arbitrary<FleetQuery> queries() {
        return Combinators.combine(
                        Arbitraries.of("", "a100", "NVIDIA-H100-80GB-HBM3", "none"),
                        Arbitraries.of("", "healthy", "UNHEALTHY", "lost"),
                        Arbitraries.of("", "present", "lost", "departed"),
                        Arbitraries.of("", "ns", "other"))
                .as((model, health, presence, namespace) -> new FleetQuery(model, "", health, presence, namespace));
    }

    @Property(tries = 300)
    void countsOfEveryChangeEqualThoseOfTheLastStates(@ForAll("changes") List<NodeChange> changes) {
        // Given
        var lived = new FleetView();
        for (NodeChange change : changes) {
            NodeState after = lived.fleet().nodeOrUnknown(change.node()).apply(change.delta());
            lived.commit(
                    after.isEmpty() ? List.of() : List.of(after), after.isEmpty() ? List.of(after.name()) : List.of());
        }
        // When
        var restored = new FleetView();
        restored.commit(lived.fleet().nodes().values().reversed(), List.of());
        // Then
        assertThat(restored.summary()).isEqualTo(lived.summary());
        assertThat(restored.indexed()).isEqualTo(lived.indexed());
        assertThat(restored.summary().devices().values().stream()
                        .mapToInt(it -> it)
                        .sum())
                .isEqualTo(FleetQuery.ALL
                        .devices(lived.indexed(), "", 1000)
                        .items()
                        .size());
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

    private static IndexedFleet indexedAfter(List<NodeChange> changes) {
        return fleetAfter(changes).nodes().values().stream()
                .reduce(IndexedFleet.EMPTY, IndexedFleet::with, (one, _) -> one);
    }

    private static Fleet fleetAfter(List<NodeChange> changes) {
        Fleet fleet = Fleet.EMPTY;
        for (NodeChange change : changes) {
            fleet = fleetAfter(fleet, change);
        }
        return fleet;
    }

    private static Fleet fleetAfter(Fleet fleet, NodeChange change) {
        NodeState after = fleet.nodeOrUnknown(change.node()).apply(change.delta());
        return after.isEmpty() ? fleet.without(after.name()) : fleet.with(after);
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
    Arbitrary<List<NodeChange>> changes() {
        Arbitrary<String> names = Arbitraries.of("n1", "n2", "n3", "n4");
        Arbitrary<NodeChange> changes = Combinators.combine(
                        names,
                        Arbitraries.integers().between(0, 11),
                        Arbitraries.integers().between(0, 3))
                .as((node, kind, variant) -> new NodeChange(node, delta(kind, variant)));
        return changes.list().ofMinSize(1).ofMaxSize(40);
    }

    private static NodeDelta delta(int kind, int variant) {
        return switch (kind) {
            case 0 -> new NodeDelta.NodeAnnounced(announcement(a100(variant), a100(variant + 1)));
            case 1 -> new NodeDelta.NodeAnnounced(announcement(h100(variant), migGpu(7, "1g.5gb", variant)));
            case 2 -> new NodeDelta.NodeAnnounced(announcement());
            case 3 -> new NodeDelta.NodeDeparted("boot-" + variant, T0);
            case 4 -> new NodeDelta.HeartbeatReceived(T0);
            case 5 -> new NodeDelta.HeartbeatTimedOut(T0);
            case 6 -> new NodeDelta.VerdictsChanged(new Verdicts("unhealthy", Map.of("GPU-A100-0", "unhealthy")));
            case 7 ->
                new NodeDelta.HoldersChanged(
                        List.of(new Holder("ns", "pod-" + variant, "main", List.of("GPU-A100-0"))));
            case 8 -> new NodeDelta.NodeObjectObserved("uid-" + variant, new NodeSettings("c" + variant, ""));
            case 9 -> new NodeDelta.NodeObjectDeleted("uid-" + variant);
            case 10 -> new NodeDelta.NodeExpired();
            default -> new NodeDelta.LabelsApplied(variant == 0 ? List.of() : List.of("b", "a"));
        };
    }
}
