package io.gpufleet.nodedaemon.model.preferred;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.settings.ReplicaAllocationPolicy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** On whatever machine: nothing better is overlooked, and every answer is a valid set. */
class PreferredAllocationPropertyTest {
    /** A machine as plain tables, from which the worth of a set is counted anew, without the program's own sums. */
    private static final class ReferenceTopology {
        private final int[] buses;
        private final int[] numa;
        private final int[][] links;
        /** Of each GPU what is above it; empty where nobody knows. */
        private final List<List<String>> routes;

        ReferenceTopology(int[] buses, int[] numa, int[][] links, List<List<String>> routes) {
            this.buses = buses;
            this.numa = numa;
            this.links = links;
            this.routes = routes;
        }

        static ReferenceTopology random(Random random, int size) {
            int[][] links = new int[size][size];
            int density = random.nextInt(5);
            for (int a = 0; a < size; a++) {
                for (int b = 0; b < a; b++) {
                    links[a][b] = random.nextInt(4) < density ? random.nextInt(3) : 0;
                    links[b][a] = links[a][b];
                }
            }
            int sockets = 1 + random.nextInt(3);
            boolean routed = random.nextBoolean();
            return new ReferenceTopology(
                    random.ints(0, 512).distinct().limit(size).toArray(),
                    random.ints(size, -1, sockets).toArray(),
                    links,
                    Stream.generate(() -> route(random))
                            .limit(routed ? size : 0)
                            .toList());
        }

        private static List<String> route(Random random) {
            return List.of("root " + random.nextInt(2), "bridge " + random.nextInt(2), "port " + random.nextInt(3))
                    .subList(0, 1 + random.nextInt(3));
        }

        List<Gpu> gpus() {
            var plain = TestTopologies.meshed(buses, numa, links);
            return routes.isEmpty()
                    ? plain
                    : plain.stream()
                            .map(gpu -> TestTopologies.routed(gpu, routes.get(gpu.index())))
                            .toList();
        }

        private long pairs(List<Integer> set, PairScore worth) {
            long sum = 0;
            for (int a : set) {
                for (int b : set) {
                    sum += b < a ? worth.of(a, b) : 0;
                }
            }
            return sum;
        }

        private int numaOf(int a, int b) {
            return numa[a] < 0 || numa[b] < 0 ? 1 : numa[a] == numa[b] ? 2 : 0;
        }

        private int level(int a, int b) {
            if (routes.isEmpty()) {
                return 0;
            }
            var one = routes.get(a);
            var other = routes.get(b);
            int common = (int) IntStream.range(0, Math.min(one.size(), other.size()))
                    .takeWhile(i -> one.get(i).equals(other.get(i)))
                    .count();
            return common < 2 ? common : Math.max(one.size(), other.size()) - common < 2 ? 3 : 2;
        }

        private int closeness(int a, int b) {
            if (!routes.isEmpty()) {
                return 0;
            }
            return buses[a] / 256 == buses[b] / 256 ? 256 - Math.abs(buses[a] - buses[b]) : 0;
        }

        private int clique(List<Integer> set) {
            return subsets(set)
                    .filter(some ->
                            some.stream().allMatch(a -> some.stream().allMatch(b -> a.equals(b) || links[a][b] > 0)))
                    .mapToInt(List::size)
                    .max()
                    .orElse(0);
        }

        Score worth(List<Integer> must, List<Integer> free, List<Integer> pick) {
            var in = Stream.concat(must.stream(), pick.stream()).toList();
            var left = free.stream().filter(gpu -> !pick.contains(gpu)).toList();
            return new Score(
                    pairs(in, (a, b) -> links[a][b]),
                    pairs(in, this::numaOf),
                    pairs(in, this::level),
                    clique(left),
                    pairs(left, (a, b) -> links[a][b]),
                    pairs(left, this::numaOf),
                    pairs(left, this::level),
                    pairs(in, this::closeness) + pairs(left, this::closeness));
        }
    }

    private interface PairScore {
        long of(int a, int b);
    }

    private record Score(
            long links,
            long numa,
            long level,
            int clique,
            long linksLeft,
            long numaLeft,
            long levelLeft,
            long closeness)
            implements Comparable<Score> {
        @Override
        public int compareTo(Score other) {
            return Comparator.comparingLong(Score::links)
                    .thenComparingLong(Score::numa)
                    .thenComparingLong(Score::level)
                    .thenComparingInt(Score::clique)
                    .thenComparingLong(Score::linksLeft)
                    .thenComparingLong(Score::numaLeft)
                    .thenComparingLong(Score::levelLeft)
                    .thenComparingLong(Score::closeness)
                    .compare(this, other);
        }
    }

    private static Stream<List<Integer>> subsets(List<Integer> of) {
        return IntStream.range(0, 1 << of.size())
                .mapToObj(set -> IntStream.range(0, of.size())
                        .filter(i -> (set >> i & 1) == 1)
                        .mapToObj(of::get)
                        .toList());
    }

    private static List<String> ids(List<Integer> gpus) {
        return gpus.stream().map(TestTopologies::uuid).toList();
    }

    @Property(tries = 300)
    void nothingBetterIsOverlooked(@ForAll long seed, @ForAll @IntRange(min = 2, max = 16) int size) {
        // Given
        var random = new Random(seed);
        var machine = ReferenceTopology.random(random, size);
        var all = IntStream.range(0, size).boxed().toList();
        var must = all.stream().filter(_ -> random.nextInt(6) == 0).toList();
        var free = all.stream()
                .filter(gpu -> !must.contains(gpu) && random.nextInt(5) > 0)
                .limit(9)
                .toList();
        int count = random.nextInt(free.size() + 1);

        // When
        var chosen = PreferredAllocation.of(TestTopologies.whole(machine.gpus()), ReplicaAllocationPolicy.DISTRIBUTED)
                .choose(Stream.concat(ids(free).stream(), ids(must).stream()).toList(), ids(must), must.size() + count);

        // Then
        assertThat(chosen).containsAll(ids(must)).hasSize(must.size() + count);
        var pick = free.stream()
                .filter(gpu -> chosen.contains(TestTopologies.uuid(gpu)))
                .toList();
        assertThat(pick).hasSize(count);
        var best = subsets(free)
                .filter(some -> some.size() == count)
                .map(some -> machine.worth(must, free, some))
                .max(Comparator.naturalOrder())
                .orElseThrow();
        assertThat(machine.worth(must, free, pick)).isEqualTo(best);
    }

    @Property(tries = 500)
    void answerIsAlwaysAValidSet(
            @ForAll long seed,
            @ForAll @IntRange(min = 1, max = 40) int gpus,
            @ForAll @IntRange(min = 1, max = 4) int replicas,
            @ForAll ReplicaAllocationPolicy sharing,
            @ForAll @IntRange(min = -2, max = 80) int size) {
        // Given
        var random = new Random(seed);
        var machine = ReferenceTopology.random(random, gpus).gpus();
        var list = replicas == 1
                ? TestTopologies.whole(machine, random.nextInt(gpus))
                : TestTopologies.replicated(machine, replicas);
        var known = new ArrayList<String>();
        list.devices().forEach(offer -> known.add(offer.id()));
        known.addAll(List.of("", "GPU-who", "GPU-00::99", "GPU-00::", "::", "MIG-1"));
        List<String> available = known.stream()
                .flatMap(id -> Stream.generate(() -> id).limit(random.nextInt(3)))
                .toList();
        List<String> must = known.stream().filter(_ -> random.nextInt(8) == 0).toList();

        // When
        List<String> chosen = PreferredAllocation.of(list, sharing).choose(available, must, size);

        // Then
        Set<String> all = new HashSet<>(available);
        all.addAll(must);
        assertThat(chosen).doesNotHaveDuplicates().isSubsetOf(all).hasSize(Math.clamp(size, 0, all.size()));
        if (must.size() <= size) {
            assertThat(chosen).containsAll(must);
        } else {
            assertThat(must).containsAll(chosen);
        }
    }

    @Property(tries = 200)
    void answerDoesNotDependOnTheOrderOfTheRequest(@ForAll long seed, @ForAll @IntRange(min = 2, max = 24) int size) {
        // Given
        var random = new Random(seed);
        var allocation = PreferredAllocation.of(
                TestTopologies.whole(ReferenceTopology.random(random, size).gpus()),
                ReplicaAllocationPolicy.DISTRIBUTED);
        var ids = new ArrayList<>(TestTopologies.range(0, size));

        // When
        var before = allocation.choose(ids, List.of(), size / 2);
        Collections.shuffle(ids, random);

        // Then
        assertThat(allocation.choose(ids, List.of(), size / 2)).isEqualTo(before);
    }
}
