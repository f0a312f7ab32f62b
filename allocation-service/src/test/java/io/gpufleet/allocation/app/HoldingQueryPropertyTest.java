package io.gpufleet.allocation.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.allocation.app.HoldingQuery.Position;
import io.gpufleet.allocation.model.holding.DeviceSlot;
import io.gpufleet.allocation.model.holding.HeldDevice;
import io.gpufleet.allocation.model.holding.Holder;
import io.gpufleet.allocation.model.holding.Holding;
import io.gpufleet.allocation.model.ledger.EventSequence;
import io.gpufleet.allocation.model.ledger.LedgerFact;
import io.gpufleet.allocation.model.ledger.LedgerReducer;
import io.gpufleet.allocation.model.ledger.NodeLedger;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** Pages of open intervals. */
class HoldingQueryPropertyTest {
    private static final Instant NOW = Instant.parse("2026-11-22T10:00:00Z");

    @Property(tries = 200)
    void pagesTogetherAreTheWhole(@ForAll long seed, @ForAll @IntRange(min = 1, max = 5) int size) {
        var random = new Random(seed);
        Ledger ledger = ledger(random);
        var query = new HoldingQuery(
                random.nextBoolean() ? "" : namespace(random), random.nextBoolean() ? "" : "n" + random.nextInt(4));

        List<String> paged = new ArrayList<>();
        List<HoldingQuery.Match> page = query.after(Position.START, ledger, size);
        while (!page.isEmpty()) {
            assertThat(page).hasSizeLessThanOrEqualTo(size);
            page.forEach(match -> paged.add(match.open().id()));
            page = query.after(page.getLast().position(), ledger, size);
        }

        assertThat(paged).doesNotHaveDuplicates().containsExactlyInAnyOrderElementsOf(scanned(ledger, query));
    }

    @Property(tries = 50)
    void intervalsThatCloseBetweenPagesHideNoOther(@ForAll long seed) {
        var random = new Random(seed);
        Ledger ledger = ledger(random);
        var query = new HoldingQuery("", "");
        List<HoldingQuery.Match> all = query.after(Position.START, ledger, 1_000);
        HoldingQuery.Match last = all.get(random.nextInt(all.size()));
        // When the whole node of the last interval of a page is gone
        ledger.committed(Map.of(), Set.of(last.node()));
        // Then
        assertThat(query.after(last.position(), ledger, 1_000))
                .containsExactlyElementsOf(all.stream()
                        .filter(match -> match.node().compareTo(last.node()) > 0)
                        .toList());
    }

    private static List<String> scanned(Ledger ledger, HoldingQuery query) {
        List<String> ids = new ArrayList<>();
        ledger.all()
                .forEach((node, state) -> state.open().values().stream()
                        .filter(_ -> query.node().isEmpty() || query.node().equals(node))
                        .filter(open -> query.namespace().isEmpty()
                                || query.namespace()
                                        .equals(open.holding().holder().namespace()))
                        .forEach(open -> ids.add(open.id())));
        return ids;
    }

    private static Ledger ledger(Random random) {
        var ledger = new Ledger(_ -> {});
        for (int node = 0; node < 4; node++) {
            List<Holding> holdings = new ArrayList<>();
            for (int device = random.nextInt(4); device >= 0; device--) {
                // As old drivers name MIG devices, with slashes
                String uuid = "MIG-GPU-" + device + "/1/0";
                for (int replica = random.nextInt(3); replica >= 0; replica--) {
                    holdings.add(new Holding(
                            new Holder(namespace(random), "p" + device + replica, "", "main", "nvidia.com/gpu"),
                            new HeldDevice(uuid + "::" + replica, new DeviceSlot(uuid, replica), "A100", 3, "")));
                }
            }
            var held = new LedgerFact.HoldingsSnapshot("boot", holdings, true, NOW, NOW, 0, new EventSequence(1, 1));
            ledger.committed(
                    Map.of(
                            "n" + node,
                            LedgerReducer.fold("c1", "n" + node, NodeLedger.EMPTY, held)
                                    .next()),
                    Set.of());
        }
        return ledger;
    }

    private static String namespace(Random random) {
        return "team-" + random.nextInt(3);
    }
}
