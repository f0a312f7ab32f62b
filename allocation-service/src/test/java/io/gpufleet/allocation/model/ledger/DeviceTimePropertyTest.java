package io.gpufleet.allocation.model.ledger;

import static io.gpufleet.allocation.model.ledger.TestNodeLedger.at;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.allocation.model.devicetime.DeviceInterval;
import io.gpufleet.allocation.model.holding.GpuFraction;
import io.gpufleet.allocation.model.holding.HeldDevice;
import io.gpufleet.allocation.model.holding.Holding;
import io.gpufleet.allocation.model.usage.GpuSeconds;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** The qualities of the time of GPUs add up to the time for which they were there, in every window and every order. */
class DeviceTimePropertyTest {
    private static final int FIRST = -10;
    private static final int LAST = 500;
    private static final int NOW = 20_000;

    /** A change of one source: from a second on, a set of GPUs. */
    private record Change(int at, Set<String> gpus) {}

    /** What is true of a node: which pods ran, and which GPUs were there, withdrawn, untrusted, used without allocation. */
    private record Truth(
            boolean mig,
            List<TestPodRuns.PodRun> runs,
            List<Change> there,
            List<Change> withdrawn,
            List<Change> untrusted,
            List<Change> unallocated) {
        static Truth random(Random random, boolean mig) {
            List<String> gpus = mig ? List.of("G", "spare") : List.of("g0", "g1", "g2", "spare");
            List<Change> there = new ArrayList<>();
            for (int at : times(random)) {
                Set<String> listed = new TreeSet<>(gpus);
                if (random.nextBoolean()) {
                    listed.remove("spare");
                }
                there.add(new Change(at, listed));
            }
            there.set(0, new Change(FIRST, new TreeSet<>(gpus)));
            return new Truth(
                    mig,
                    TestPodRuns.podRuns(random),
                    there,
                    changes(random, gpus),
                    changes(random, gpus),
                    changes(random, gpus));
        }

        private static List<Integer> times(Random random) {
            var times = new TreeSet<Integer>(List.of(FIRST));
            for (int i = random.nextInt(4); i > 0; i--) {
                times.add(random.nextInt(250));
            }
            return List.copyOf(times);
        }

        private static List<Change> changes(Random random, List<String> gpus) {
            List<Change> changes = new ArrayList<>();
            for (int at : times(random)) {
                Set<String> some = new TreeSet<>(gpus);
                some.removeIf(_ -> random.nextBoolean());
                changes.add(new Change(at, some));
            }
            changes.set(0, new Change(FIRST, Set.of()));
            return changes;
        }

        private static boolean has(List<Change> changes, String gpu, int second) {
            boolean has = false;
            for (Change change : changes) {
                has = change.at() <= second ? change.gpus().contains(gpu) : has;
            }
            return has;
        }

        private boolean isThere(String gpu, int second) {
            return has(there, gpu, second);
        }

        private String condition(String gpu, int second) {
            if (has(withdrawn, gpu, second) || has(untrusted, gpu, second)) {
                return "quarantined";
            }
            return has(unallocated, gpu, second) ? "unaccounted" : "idle";
        }

        private boolean holds(TestPodRuns.PodRun run, String gpu, int second) {
            boolean on = mig ? gpu.equals("G") : run.device().equals(gpu);
            return on && (long) Math.floor(run.from()) <= second && second < run.to();
        }

        /** GPU-seconds in which nobody holds a GPU by quality, and those held as {@code held}. */
        Map<String, BigDecimal> sums(int from, int to) {
            Map<String, GpuSeconds> sums = new TreeMap<>();
            GpuFraction part = mig ? GpuFraction.of("A100", "2g.10gb", 1) : GpuFraction.WHOLE;
            for (int second = from; second < to; second++) {
                for (String gpu : List.of("G", "g0", "g1", "g2", "spare")) {
                    String condition = condition(gpu, second);
                    if (isThere(gpu, second)) {
                        add(sums, condition, GpuFraction.WHOLE);
                    }
                    for (TestPodRuns.PodRun run : runs) {
                        if (holds(run, gpu, second)) {
                            add(sums, condition, part.negated());
                            add(sums, "held", part);
                        }
                    }
                }
            }
            Map<String, BigDecimal> values = new TreeMap<>();
            sums.forEach((quality, sum) -> values.put(quality, sum.value()));
            values.values().removeIf(value -> value.signum() == 0);
            return values;
        }

        private static void add(Map<String, GpuSeconds> sums, String quality, GpuFraction weight) {
            sums.computeIfAbsent(quality, _ -> new GpuSeconds()).add(1, weight);
        }

        /** GPU-seconds for which the GPUs are there. */
        BigDecimal total(int from, int to) {
            var total = new GpuSeconds();
            for (String gpu : List.of("G", "g0", "g1", "g2", "spare")) {
                total.add(
                        IntStream.range(from, to)
                                .filter(second -> isThere(gpu, second))
                                .count(),
                        GpuFraction.WHOLE);
            }
            return total.value();
        }

        /** The daemon's allocation topic: Allocates, snapshots, and use without an allocation. */
        List<LedgerFact> allocation(TestNodeLedger scene) {
            List<LedgerFact> facts = new ArrayList<>();
            for (LedgerFact fact : TestPodRuns.daemonFacts(runs, scene)) {
                facts.add(mig && fact instanceof LedgerFact.HoldingsSnapshot snapshot ? ofMig(snapshot) : fact);
            }
            insert(facts, unallocated, change -> new LedgerFact.UnallocatedUse(change.gpus(), at(change.at())));
            return facts;
        }

        private static void insert(List<LedgerFact> facts, List<Change> changes, Function<Change, LedgerFact> fact) {
            for (Change change : changes) {
                int index = 0;
                while (index < facts.size() && time(facts.get(index)) <= change.at()) {
                    index++;
                }
                facts.add(index, fact.apply(change));
            }
        }

        private static double time(LedgerFact fact) {
            return switch (fact) {
                case LedgerFact.HoldingsSnapshot snapshot -> seconds(snapshot.at());
                case LedgerFact.Allocated allocated -> seconds(allocated.at());
                case LedgerFact.UnallocatedUse use -> seconds(use.at());
                default -> throw new IllegalStateException(fact + " is of another topic");
            };
        }

        private static double seconds(Instant at) {
            return (at.toEpochMilli() - at(0).toEpochMilli()) / 1000.0;
        }

        private static LedgerFact ofMig(LedgerFact.HoldingsSnapshot snapshot) {
            return new LedgerFact.HoldingsSnapshot(
                    snapshot.bootId(),
                    snapshot.holdings().stream()
                            .map(one -> new Holding(
                                    one.holder(),
                                    new HeldDevice(
                                            one.device().id(), one.device().slot(), "A100", 1, "2g.10gb")))
                            .toList(),
                    snapshot.complete(),
                    snapshot.at(),
                    snapshot.appendedAt(),
                    snapshot.clockAheadMillis(),
                    snapshot.eventSequence());
        }

        /** The daemon's inventory topic. */
        List<LedgerFact> inventory() {
            var times = new TreeSet<Integer>();
            there.forEach(change -> times.add(change.at()));
            withdrawn.forEach(change -> times.add(change.at()));
            List<LedgerFact> facts = new ArrayList<>();
            for (int second : times) {
                List<String> listed = List.of("G", "g0", "g1", "g2", "spare").stream()
                        .filter(gpu -> isThere(gpu, second))
                        .toList();
                Set<String> out = new TreeSet<>(listed);
                out.removeIf(gpu -> !has(withdrawn, gpu, second));
                facts.add(new LedgerFact.GpusAnnounced(new AnnouncedGpus(
                        List.of(), new TreeSet<>(), mig ? Map.of("g0", "G", "g1", "G", "g2", "G") : Map.of())));
                facts.add(TestDeviceTime.listed(second, out, listed.toArray(String[]::new)));
            }
            return facts;
        }

        /** The verdicts; each is appended some seconds after the time since which it holds. */
        List<LedgerFact> verdicts() {
            List<LedgerFact> facts = new ArrayList<>();
            for (Change change : untrusted) {
                Map<String, Instant> since = new TreeMap<>();
                change.gpus().forEach(gpu -> since.put(gpu, at(change.at())));
                facts.add(new LedgerFact.TrustChanged(since, at(change.at())));
            }
            return facts;
        }

        List<LedgerFact> ends(Random random) {
            List<LedgerFact> ends = new ArrayList<>(runs.stream()
                    .map(run -> TestNodeLedger.podFinished(run.pod(), run.uid(), run.to()))
                    .toList());
            Collections.shuffle(ends, random);
            return ends;
        }
    }

    /**
     * The facts of the topics, each topic in its own order. The last of the first topic, a snapshot that is hours later, comes
     * last: what is read more than an hour late may move less than it should.
     */
    private static LedgerFact[] inSomeOrder(Random random, List<List<LedgerFact>> topics) {
        List<List<LedgerFact>> left = new ArrayList<>();
        topics.forEach(topic -> left.add(new ArrayList<>(topic)));
        LedgerFact last = left.getFirst().removeLast();
        List<LedgerFact> order = new ArrayList<>();
        left.removeIf(List::isEmpty);
        while (!left.isEmpty()) {
            List<LedgerFact> topic = left.get(random.nextInt(left.size()));
            order.add(topic.removeFirst());
            left.removeIf(List::isEmpty);
        }
        order.add(last);
        return order.toArray(LedgerFact[]::new);
    }

    private static TestNodeLedger folded(Truth truth, Random random) {
        var scene = new TestNodeLedger();
        return scene.fold(inSomeOrder(
                random, List.of(truth.allocation(scene), truth.inventory(), truth.verdicts(), truth.ends(random))));
    }

    private static void assertTrueInEveryWindow(Truth truth, TestNodeLedger scene, Random random) {
        for (int i = 0; i < 5; i++) {
            int from = FIRST - 5 + random.nextInt(200);
            int to = from + random.nextInt(LAST - from);
            assertThat(TestDeviceTime.sums(
                            scene, NOW, from, to, quality -> quality.startsWith("allocated") ? "held" : quality))
                    .isEqualTo(truth.sums(from, to));
        }
    }

    @Property(tries = 300)
    void qualitiesOfWholeGpusAreExactInEveryOrderBetweenTheTopics(@ForAll long seed) {
        var random = new Random(seed);
        Truth truth = Truth.random(random, false);
        assertTrueInEveryWindow(truth, folded(truth, random), random);
    }

    @Property(tries = 300)
    void qualitiesOfMigDevicesAreExactInEveryOrderBetweenTheTopics(@ForAll long seed) {
        var random = new Random(seed);
        Truth truth = Truth.random(random, true);
        assertTrueInEveryWindow(truth, folded(truth, random), random);
    }

    @Property(tries = 300)
    void qualitiesAddUpToTheTimeOfTheGpusWhateverIsSilentOrLost(@ForAll long seed) {
        var random = new Random(seed);
        Truth truth = Truth.random(random, random.nextBoolean());
        var scene = new TestNodeLedger();
        List<LedgerFact> daemon = new ArrayList<>();
        for (LedgerFact fact : TestPodRuns.withSilences(truth.allocation(scene), random)) {
            if (fact instanceof LedgerFact.HoldingsSnapshot snapshot) {
                daemon.add(new LedgerFact.DaemonHeard(snapshot.appendedAt()));
            }
            daemon.add(fact);
        }
        daemon.removeIf(LedgerFact.MachineGone.class::isInstance);
        scene.fold(inSomeOrder(random, List.of(daemon, truth.inventory(), truth.verdicts(), truth.ends(random))));
        for (int i = 0; i < 5; i++) {
            int from = FIRST - 5 + random.nextInt(200);
            int to = from + random.nextInt(LAST - from);
            Map<String, BigDecimal> sums = TestDeviceTime.sums(scene, NOW, from, to);
            assertThat(TestDeviceTime.total(scene, NOW, from, to)).isEqualTo(truth.total(from, to));
            assertThat(sums.values()).noneMatch(sum -> sum.signum() < 0);
        }
    }

    @Property(tries = 100)
    void noIdIsPublishedTwiceAndAReplayGivesTheSame(@ForAll long seed) {
        Truth truth = Truth.random(new Random(seed), false);
        TestNodeLedger one = folded(truth, new Random(seed + 1));
        TestNodeLedger other = folded(truth, new Random(seed + 1));
        assertThat(one.deviceTime()).isEqualTo(other.deviceTime());
        assertThat(one.ledger()).isEqualTo(other.ledger());
        assertThat(one.deviceTime().stream().map(DeviceInterval::id)).doesNotHaveDuplicates();
    }
}
