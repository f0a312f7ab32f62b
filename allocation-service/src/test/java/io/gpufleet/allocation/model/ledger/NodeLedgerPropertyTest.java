package io.gpufleet.allocation.model.ledger;

import static io.gpufleet.allocation.model.ledger.TestNodeLedger.at;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.allocation.model.holding.GpuFraction;
import io.gpufleet.allocation.model.holding.GpuTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** Whatever the order between topics, and whatever is repeated or missing: the sums are exact. */
class NodeLedgerPropertyTest {
    @Property(tries = 500)
    void sumsAreExactInEveryOrderBetweenTheTopics(@ForAll long seed) {
        var random = new Random(seed);
        List<TestPodRuns.PodRun> runs = TestPodRuns.podRuns(random);
        var scene = new TestNodeLedger();
        List<LedgerFact> ends = new ArrayList<>(runs.stream()
                .map(run -> TestNodeLedger.podFinished(run.pod(), run.uid(), run.to()))
                .toList());
        java.util.Collections.shuffle(ends, random);
        scene.fold(TestPodRuns.interleaved(TestPodRuns.daemonFacts(runs, scene), ends, random)
                .toArray(LedgerFact[]::new));
        assertThat(scene.millisByPod()).isEqualTo(TestPodRuns.sums(runs));
        assertThat(scene.ledger().open()).isEmpty();
    }

    @Property(tries = 300)
    void sumsAreExactWhenTrustChanges(@ForAll long seed) {
        var random = new Random(seed);
        List<TestPodRuns.PodRun> runs = TestPodRuns.podRuns(random);
        var scene = new TestNodeLedger();
        List<LedgerFact> others = new ArrayList<>();
        for (TestPodRuns.PodRun run : runs) {
            others.add(TestNodeLedger.podFinished(run.pod(), run.uid(), run.to()));
            double since = run.from() + random.nextInt(30);
            String distrusted = random.nextBoolean() ? run.device() : LedgerFact.TrustChanged.EVERY_DEVICE;
            others.add(new LedgerFact.TrustChanged(
                    random.nextBoolean() ? Map.of(distrusted, at(since)) : Map.of(), at(since + random.nextInt(20))));
        }
        scene.fold(TestPodRuns.interleaved(TestPodRuns.daemonFacts(runs, scene), others, random)
                .toArray(LedgerFact[]::new));
        assertThat(scene.millisByPod()).isEqualTo(TestPodRuns.sums(runs));
    }

    @Property(tries = 500)
    void sumsAreExactAndNothingStaysUnreachableOnceEveryEndIsKnown(@ForAll long seed) {
        var random = new Random(seed);
        List<TestPodRuns.PodRun> runs = TestPodRuns.podRuns(random);
        var scene = new TestNodeLedger();
        List<LedgerFact> ends = new ArrayList<>(runs.stream()
                .map(run -> TestNodeLedger.podFinished(run.pod(), run.uid(), run.to()))
                .toList());
        java.util.Collections.shuffle(ends, random);
        List<LedgerFact> daemon = TestPodRuns.withSilences(TestPodRuns.daemonFacts(runs, scene), random);
        scene.fold(TestPodRuns.interleaved(daemon, ends, random).toArray(LedgerFact[]::new));
        assertThat(scene.millisByPod()).isEqualTo(TestPodRuns.sums(runs));
        assertThat(scene.millis(IntervalQuality.UNREACHABLE)).isZero();
        assertThat(scene.ledger().open()).isEmpty();
    }

    @Property(tries = 300)
    void noIdIsPublishedTwice(@ForAll long seed) {
        var random = new Random(seed);
        List<TestPodRuns.PodRun> runs = TestPodRuns.podRuns(random);
        var scene = new TestNodeLedger();
        List<LedgerFact> others = new ArrayList<>();
        for (TestPodRuns.PodRun run : runs) {
            others.add(new LedgerFact.TrustChanged(Map.of(run.device(), at(run.from() + 1)), at(run.from() + 2)));
            others.add(TestNodeLedger.podFinished(run.pod(), run.uid(), run.to()));
            others.add(new LedgerFact.TrustChanged(Map.of(), at(run.to() + 1)));
        }
        List<LedgerFact> daemon = TestPodRuns.withSilences(TestPodRuns.daemonFacts(runs, scene), random);
        scene.fold(TestPodRuns.interleaved(daemon, others, random).toArray(LedgerFact[]::new));
        List<String> ids = scene.published().stream()
                .map(entry -> switch (entry) {
                    case UsageEntry.Closed(ClosedUsageInterval interval) -> interval.id();
                    case UsageEntry.Adjusted adjusted -> adjusted.id();
                })
                .toList();
        assertThat(ids).doesNotHaveDuplicates();
    }

    @Property(tries = 200)
    void splitIntervalsOfAShareAddUpToTheWhole(
            @ForAll @IntRange(min = 1, max = 48) int shareOf,
            @ForAll @IntRange(min = 1, max = 7) int slices,
            @ForAll @IntRange(min = 0, max = 1000) int cut,
            @ForAll @IntRange(min = 0, max = 1000) int rest) {
        GpuFraction part = GpuFraction.of("A100", slices + "g.5gb", shareOf);
        assertThat(GpuTime.millis(at(0), at(cut), part) + GpuTime.millis(at(cut), at(cut + rest), part))
                .isEqualTo(GpuTime.millis(at(0), at(cut + rest), part));
    }
}
