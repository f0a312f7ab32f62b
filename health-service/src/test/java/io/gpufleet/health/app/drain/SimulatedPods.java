package io.gpufleet.health.app.drain;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.drain.DrainProgress;
import io.gpufleet.health.model.drain.Holdings;
import io.gpufleet.health.model.drain.PodOnNode;
import io.gpufleet.health.model.drain.PodOnNode.PodName;
import io.gpufleet.runtime.simulation.CommittedFold;
import io.gpufleet.runtime.simulation.Link;
import io.gpufleet.runtime.simulation.SimulatedTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;

/**
 * Pods in memory, each of a job of which other pods are on other nodes, with PodDisruptionBudgets that may refuse. Each eviction is
 * compared with what is committed, and with the evictions before it.
 */
@NullMarked
public final class SimulatedPods {
    private final SimulatedTime time;
    private final CommittedFold<NodeState> fold;
    /** Between two nodes of one job, less the time for which a call may take after its lease was asked. */
    private final Duration apart;

    /** Daemons report who holds what. */
    private final Consumer<String> changed;

    private final Map<String, List<Held>> byNode = new TreeMap<>();
    private final Set<String> blocked = new HashSet<>();
    private final Map<String, Eviction> last = new HashMap<>();
    private int uids;

    private record Held(PodOnNode pod, String device) {}

    private record Eviction(String node, long nanos) {}

    /** No pods yet; tells which node's pods change. */
    public SimulatedPods(
            SimulatedTime time,
            CommittedFold<NodeState> fold,
            Duration jobInterval,
            Duration lease,
            Consumer<String> changed) {
        this.time = time;
        this.fold = fold;
        this.apart = jobInterval.minus(lease);
        this.changed = changed;
    }

    /** A pod of a job begins to hold a device that nobody holds. */
    public void start(String node, String job, String device) {
        List<Held> pods = byNode.computeIfAbsent(node, _ -> new ArrayList<>());
        if (pods.stream().noneMatch(held -> held.device().equals(device))) {
            uids++;
            var name = new PodName("team", "pod-" + uids, "uid-pod-" + uids);
            pods.add(new Held(
                    new PodOnNode(name, "team/Job/" + job, PodOnNode.Kind.OTHER, PodOnNode.Phase.LIVE, true, null),
                    device));
            changed.accept(node);
        }
    }

    /** The budget of a job refuses every eviction, or allows them again. */
    public void block(String job) {
        String name = "team/Job/" + job;
        if (!blocked.remove(name)) {
            blocked.add(name);
        }
    }

    /** Every budget allows evictions. */
    public void unblock() {
        blocked.clear();
    }

    /** Who holds which devices of a node. */
    public Holdings holdings(String node) {
        return new Holdings(
                true,
                byNode.getOrDefault(node, List.of()).stream()
                        .map(held -> new Holdings.Holder(held.pod().name(), List.of(held.device())))
                        .toList());
    }

    /**
     * A client of one process.
     *
     * @param mayWrite whether its process may act now; each change is checked against it
     */
    public PodClient client(Link link, BooleanSupplier mayWrite) {
        return new Client(link, mayWrite);
    }

    private final class Client implements PodClient {
        private final Link link;
        private final BooleanSupplier mayWrite;

        Client(Link link, BooleanSupplier mayWrite) {
            this.link = link;
            this.mayWrite = mayWrite;
        }

        @Override
        public PodList onNode(String node) {
            return call(
                    () -> new PodList.Listed(byNode.getOrDefault(node, List.of()).stream()
                            .map(Held::pod)
                            .toList()),
                    new PodList.Unlisted("no answer"));
        }

        @Override
        public PodResponse giveNotice(PodOnNode pod, Instant evictionAt, String message) {
            return change(pod, node -> replace(node, pod, evictionAt));
        }

        @Override
        public PodResponse withdrawNotice(PodOnNode pod) {
            return change(pod, node -> replace(node, pod, null));
        }

        @Override
        public PodResponse evict(PodOnNode pod) {
            return change(pod, node -> {
                if (blocked.contains(pod.job())) {
                    return new PodResponse.Blocked("budget of " + pod.job(), Optional.empty());
                }
                checkEviction(node, pod);
                remove(node, pod);
                return new PodResponse.Done();
            });
        }

        @Override
        public PodResponse delete(PodOnNode pod) {
            throw new AssertionError("the policy waits after the deadline, and " + pod + " is deleted");
        }

        private PodResponse change(PodOnNode pod, Function<String, PodResponse> change) {
            return call(
                    () -> {
                        assertThat(mayWrite.getAsBoolean())
                                .as("a pod is changed by a replica that may not act")
                                .isTrue();
                        return nodeOf(pod).map(change).orElseGet(PodResponse.Gone::new);
                    },
                    new PodResponse.Failed("no answer"));
        }

        private <T> T call(Supplier<T> request, T lost) {
            try {
                return link.call(request, () -> new IllegalStateException("no answer"));
            } catch (IllegalStateException noAnswer) {
                return lost;
            }
        }
    }

    private Optional<String> nodeOf(PodOnNode pod) {
        return byNode.entrySet().stream()
                .filter(node -> node.getValue().stream()
                        .anyMatch(held -> held.pod().name().equals(pod.name())))
                .map(Map.Entry::getKey)
                .findFirst();
    }

    private PodClient.PodResponse replace(String node, PodOnNode pod, @Nullable Instant at) {
        byNode.getOrDefault(node, List.of())
                .replaceAll(held -> held.pod().name().equals(pod.name())
                        ? new Held(
                                new PodOnNode(pod.name(), pod.job(), pod.kind(), pod.phase(), pod.requestsGpu(), at),
                                held.device())
                        : held);
        return new PodClient.PodResponse.Done();
    }

    private void remove(String node, PodOnNode pod) {
        last.put(pod.job(), new Eviction(node, time.nanos()));
        byNode.getOrDefault(node, List.of()).removeIf(held -> held.pod().name().equals(pod.name()));
        changed.accept(node);
    }

    private void checkEviction(String node, PodOnNode pod) {
        DrainProgress progress = fold.get(node).orElseThrow().acting().drain();
        assertThat(progress.jobs())
                .as("jobs of the committed drain of %s, of which %s is evicted", node, pod)
                .contains(pod.job());
        assertThat(pod.eviction()).as("notice of %s", pod).isPresent();
        Eviction before = last.get(pod.job());
        if (before != null && !before.node().equals(node)) {
            assertThat(Duration.ofNanos(time.nanos() - before.nanos()))
                    .as("time between evictions of %s on %s and %s", pod.job(), before.node(), node)
                    .isGreaterThanOrEqualTo(apart);
        }
    }
}
