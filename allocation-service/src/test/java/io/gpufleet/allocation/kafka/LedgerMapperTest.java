package io.gpufleet.allocation.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.allocation.model.devicetime.GpuIdentity;
import io.gpufleet.allocation.model.holding.DeviceSlot;
import io.gpufleet.allocation.model.holding.HeldDevice;
import io.gpufleet.allocation.model.holding.Holder;
import io.gpufleet.allocation.model.holding.Holding;
import io.gpufleet.allocation.model.holding.KnownPod;
import io.gpufleet.allocation.model.ledger.AnnouncedGpus;
import io.gpufleet.allocation.model.ledger.EventSequence;
import io.gpufleet.allocation.model.ledger.FinishedPod;
import io.gpufleet.allocation.model.ledger.GpuModel;
import io.gpufleet.allocation.model.ledger.LedgerFact;
import io.gpufleet.allocation.model.ledger.LedgerReducer;
import io.gpufleet.allocation.model.ledger.NodeLedger;
import io.gpufleet.allocation.model.scheduling.Interner;
import io.gpufleet.proto.allocation.v1.NodeHoldings;
import io.gpufleet.wire.Codec;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** The state that is restored equals the state that was in memory. */
class LedgerMapperTest {
    private static Instant at(int seconds) {
        return Instant.ofEpochMilli(1_700_000_000_123L).plusSeconds(seconds);
    }

    /** A fact of a node with few GPUs and pods, so that facts meet. */
    static LedgerFact fact(Random random, int step) {
        String device = "g" + random.nextInt(3) + (random.nextBoolean() ? "::1" : "");
        String pod = "p" + random.nextInt(3);
        return switch (random.nextInt(11)) {
            case 7 ->
                new LedgerFact.PodKnown(
                        new KnownPod("ml", pod, "u" + pod, "Job/" + pod, new TreeMap<>(Map.of("team", pod)), at(step)));
            case 6 -> new LedgerFact.DaemonSilent(at(step));
            case 0 ->
                new LedgerFact.Allocated(
                        "b" + random.nextInt(2),
                        "nvidia.com/gpu",
                        List.of(device),
                        at(step),
                        at(step),
                        new EventSequence(1, step));
            case 1 -> new LedgerFact.PodFinished(new FinishedPod("ml", pod, "u" + pod, at(step - random.nextInt(9))));
            case 2 ->
                new LedgerFact.TrustChanged(
                        random.nextBoolean() ? Map.of("g0", at(step - random.nextInt(9))) : Map.of(), at(step));
            case 3 ->
                new LedgerFact.GpusAnnounced(new AnnouncedGpus(
                        List.of(new GpuModel("NVIDIA A100", "A100", 1 + random.nextInt(8), List.of("g1", "g0"))),
                        new TreeSet<>(List.of(
                                new AnnouncedGpus.Offer("nvidia.com/a100", "A100", "1g.5gb", 1 + random.nextInt(3)))),
                        Map.of("MIG-1", "g0")));
            case 8 ->
                new LedgerFact.GpusListed(
                        List.of(
                                new GpuIdentity("g" + random.nextInt(3), "A100", "NVIDIA-A100"),
                                new GpuIdentity("g3", "H100", "NVIDIA-H100")),
                        random.nextBoolean() ? Set.of("g0") : Set.of(),
                        random.nextInt(4) > 0,
                        at(step));
            case 9 -> new LedgerFact.UnallocatedUse(random.nextBoolean() ? Set.of("MIG-1", "g1") : Set.of(), at(step));
            case 10 -> new LedgerFact.DaemonHeard(at(step));
            default ->
                new LedgerFact.HoldingsSnapshot(
                        "b" + random.nextInt(2),
                        List.of(new Holding(
                                new Holder("ml", pod, random.nextBoolean() ? "u" + pod : "", "main", "nvidia.com/gpu"),
                                new HeldDevice(
                                        device,
                                        new DeviceSlot(device.substring(0, 2), device.length() > 2 ? 1 : 0),
                                        "A100",
                                        device.length() > 2 ? 2 : 1,
                                        ""))),
                        random.nextInt(4) > 0,
                        at(step),
                        at(step),
                        random.nextInt(100) - 50,
                        new EventSequence(1, step));
        };
    }

    @Property(tries = 300)
    void restoredStateEqualsWrittenState(@ForAll long seed) throws Exception {
        var random = new Random(seed);
        NodeLedger ledger = NodeLedger.EMPTY;
        List<NodeLedger> states = new ArrayList<>();
        for (int step = 1; step < 40; step++) {
            ledger = LedgerReducer.fold("c1", "n1", ledger, fact(random, 3 * step))
                    .next();
            states.add(ledger);
        }
        for (NodeLedger state : states) {
            byte[] json = Codec.toJson(LedgerMapper.state(state));
            NodeHoldings read = (NodeHoldings) Codec.fromJson(json, NodeHoldings.getDefaultInstance());
            assertThat(LedgerMapper.ledger(read, new Interner<>())).isEqualTo(state);
        }
    }
}
