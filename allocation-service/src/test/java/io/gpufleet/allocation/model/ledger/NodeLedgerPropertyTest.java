package io.gpufleet.allocation.model.ledger;

import static io.gpufleet.allocation.model.ledger.TestNodeLedger.at;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** Whatever the order between topics, and whatever is repeated or missing: the sums are exact. */
class NodeLedgerPropertyTest {
    private record PodRun(String pod, String uid, String device, double from, int to) {}

    /** What happened on a node: on each of three devices one pod after the other. */
    private static List<PodRun> podRuns(Random random) {
        List<PodRun> runs = new ArrayList<>();
        for (int device = 0; device < 3; device++) {
            double now = random.nextInt(50) / 10.0;
            for (int i = 0; i < 1 + random.nextInt(5); i++) {
                int end = (int) Math.ceil(now) + random.nextInt(40);
                // StatefulSets use their pods' names again.
                String pod = "pod-" + device + "-" + random.nextInt(2);
                runs.add(new PodRun(pod, "u-" + device + "-" + i, "g" + device, now, end));
                now = end + 2 + random.nextInt(50) / 10.0;
            }
        }
        return runs;
    }

    private static Map<String, Long> sums(List<PodRun> runs) {
        Map<String, Long> sums = new TreeMap<>();
        runs.forEach(run -> sums.merge(
                run.pod(),
                Math.max(0, at(run.to()).getEpochSecond() - at(run.from()).getEpochSecond()) * 1000,
                Long::sum));
        sums.values().removeIf(sum -> sum == 0);
        return sums;
    }

    /** What the daemon reports: each Allocate, and a snapshot soon after each change. */
    private static List<LedgerFact> daemonFacts(List<PodRun> runs, TestNodeLedger scene) {
        record Transition(double at, boolean begins, PodRun run) {}
        List<Transition> transitions = new ArrayList<>();
        runs.forEach(run -> {
            transitions.add(new Transition(run.from(), true, run));
            transitions.add(new Transition(run.to() + 0.9, false, run));
        });
        transitions.sort((one, two) -> Double.compare(one.at(), two.at()));
        List<LedgerFact> facts = new ArrayList<>();
        List<PodRun> held = new ArrayList<>();
        for (Transition transition : transitions) {
            if (transition.begins()) {
                facts.add(scene.allocated(transition.at(), transition.run().device()));
                held.add(transition.run());
            } else {
                held.remove(transition.run());
            }
            facts.add(scene.held(
                    transition.at() + (transition.begins() ? 0.5 : 0),
                    held.stream()
                            .map(run -> TestNodeLedger.holding(run.pod(), run.uid(), run.device()))
                            .toArray(Holding[]::new)));
        }
        facts.add(scene.held(10_000));
        return facts;
    }

    /** One order between the streams, each of them in its own order; some facts of the second are repeated. */
    private static List<LedgerFact> interleaved(List<LedgerFact> one, List<LedgerFact> other, Random random) {
        List<LedgerFact> order = new ArrayList<>();
        int i = 0;
        int j = 0;
        while (i < one.size() || j < other.size()) {
            if (j == other.size() || (i < one.size() && random.nextBoolean())) {
                order.add(one.get(i++));
            } else {
                order.add(other.get(j));
                if (random.nextInt(4) == 0) {
                    order.add(other.get(random.nextInt(j + 1)));
                }
                j++;
            }
        }
        return order;
    }

    @Property(tries = 500)
    void sumsAreExactInEveryOrderBetweenTheTopics(@ForAll long seed) {
        var random = new Random(seed);
        List<PodRun> runs = podRuns(random);
        var scene = new TestNodeLedger();
        List<LedgerFact> ends = new ArrayList<>(runs.stream()
                .map(run -> TestNodeLedger.podFinished(run.pod(), run.uid(), run.to()))
                .toList());
        java.util.Collections.shuffle(ends, random);
        scene.fold(interleaved(daemonFacts(runs, scene), ends, random).toArray(LedgerFact[]::new));
        assertThat(scene.millisByPod()).isEqualTo(sums(runs));
        assertThat(scene.ledger().open()).isEmpty();
    }

    @Property(tries = 300)
    void sumsAreExactWhenTrustChanges(@ForAll long seed) {
        var random = new Random(seed);
        List<PodRun> runs = podRuns(random);
        var scene = new TestNodeLedger();
        List<LedgerFact> others = new ArrayList<>();
        for (PodRun run : runs) {
            others.add(TestNodeLedger.podFinished(run.pod(), run.uid(), run.to()));
            double since = run.from() + random.nextInt(30);
            others.add(new LedgerFact.TrustChanged(
                    random.nextBoolean() ? Map.of(run.device(), at(since)) : Map.of(), at(since + random.nextInt(20))));
        }
        scene.fold(interleaved(daemonFacts(runs, scene), others, random).toArray(LedgerFact[]::new));
        assertThat(scene.millisByPod()).isEqualTo(sums(runs));
    }

    @Property(tries = 300)
    void noIdIsPublishedTwice(@ForAll long seed) {
        var random = new Random(seed);
        List<PodRun> runs = podRuns(random);
        var scene = new TestNodeLedger();
        List<LedgerFact> others = new ArrayList<>();
        for (PodRun run : runs) {
            others.add(new LedgerFact.TrustChanged(Map.of(run.device(), at(run.from() + 1)), at(run.from() + 2)));
            others.add(TestNodeLedger.podFinished(run.pod(), run.uid(), run.to()));
            others.add(new LedgerFact.TrustChanged(Map.of(), at(run.to() + 1)));
        }
        scene.fold(interleaved(daemonFacts(runs, scene), others, random).toArray(LedgerFact[]::new));
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
