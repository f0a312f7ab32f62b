package io.gpufleet.health.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.model.nodepatch.AppliedAnnotation;
import io.gpufleet.health.model.nodepatch.NodePatchPlan;
import io.gpufleet.health.model.nodepatch.ObservedNode;
import io.gpufleet.health.model.nodepatch.ObservedNode.Condition;
import io.gpufleet.health.model.nodepatch.ObservedNode.NodeFacts;
import io.gpufleet.health.model.nodepatch.ObservedNode.Taint;
import io.gpufleet.health.model.nodepatch.PatchBase;
import io.gpufleet.runtime.simulation.Link;
import io.gpufleet.runtime.simulation.Lockstep;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;

/** Nodes in memory. Every client has a cache that lags behind, and a link that may be cut. */
@NullMarked
final class SimulatedApiServer {
    /** Each Node has it from the beginning to the end. */
    private static final Taint TEAM = new Taint("example.com/team", "ml", "NoSchedule", "");
    /** Comes and goes. */
    private static final Taint PRESSURE = new Taint("node.kubernetes.io/memory-pressure", "", "NoSchedule", "");

    private static final String KUBECTL = "kubectl-cordon";
    /** One Node of so many is cordoned by a person, from the beginning to the end. */
    private static final int CORDONED_BY_A_PERSON = 5;

    private final Map<String, ObservedNode> nodes = new TreeMap<>();
    private final List<Client> clients = new ArrayList<>();
    private int versions;
    private int uids;

    /** Creates a Node, or another one under its name. */
    void create(String name) {
        boolean cordoned = ++uids % CORDONED_BY_A_PERSON == 0;
        put(new ObservedNode(
                name,
                new NodeFacts("uid-" + uids, "", true, cordoned, true),
                base(cordoned ? KUBECTL : ""),
                List.of(TEAM),
                "",
                "",
                AppliedAnnotation.NONE,
                null));
    }

    private static PatchBase base(String cordonManager) {
        return new PatchBase("", null, true, true, true, "", cordonManager);
    }

    boolean isCordoned(String name) {
        return node(name).facts().unschedulable();
    }

    boolean isCordonedByAPerson(String name) {
        return node(name).base().cordonManager().equals(KUBECTL);
    }

    ObservedNode node(String name) {
        return Optional.ofNullable(nodes.get(name)).orElseThrow();
    }

    /** Somebody else changes our condition, which every replica that acts would set right, and a taint of its own. */
    void disturb(String name) {
        ObservedNode node = node(name);
        List<Taint> taints = new ArrayList<>(node.taints());
        if (!taints.remove(PRESSURE)) {
            taints.add(PRESSURE);
        }
        put(new ObservedNode(
                name,
                node.facts(),
                node.base(),
                taints,
                node.label(),
                node.recommendedAction(),
                node.applied(),
                node.condition() == null ? null : new Condition("Unknown", "Disturbed", "")));
    }

    private static List<Taint> foreign(List<Taint> taints) {
        return taints.stream().filter(taint -> !taint.isUnhealthyTaint()).toList();
    }

    /** Ours as the patch has it, beside what others have on the Node by now: a patch names ours alone. */
    private static List<Taint> patched(ObservedNode node, List<Taint> patch) {
        return Stream.concat(patch.stream().filter(Taint::isUnhealthyTaint), foreign(node.taints()).stream())
                .toList();
    }

    private void put(ObservedNode node) {
        assertThat(node.taints()).as("taints of %s", node.name()).contains(TEAM);
        if (nodes.containsKey(node.name()) && isCordonedByAPerson(node.name())) {
            assertThat(node.facts().unschedulable())
                    .as("cordon of a person on %s", node.name())
                    .isTrue();
            assertThat(node.base().cordonManager())
                    .as("who cordoned %s", node.name())
                    .isEqualTo(KUBECTL);
        }
        var stored = new ObservedNode(
                node.name(),
                node.facts(),
                new PatchBase(
                        Integer.toString(++versions),
                        node.applied().equals(AppliedAnnotation.NONE)
                                ? null
                                : node.applied().toString(),
                        true,
                        true,
                        true,
                        "",
                        node.base().cordonManager()),
                node.taints(),
                node.label(),
                node.recommendedAction(),
                node.applied(),
                node.condition());
        nodes.put(node.name(), stored);
        clients.forEach(client -> client.changes.add(stored));
    }

    /**
     * A client of one process.
     *
     * @param mayWrite whether its process may act now; each write is checked against it
     */
    Client client(Link link, BooleanSupplier mayWrite) {
        var client = new Client(link, mayWrite);
        nodes.values().forEach(client.changes::add);
        clients.add(client);
        return client;
    }

    /** A client has ended with its process. */
    void disconnect(Client client) {
        clients.remove(client);
    }

    /** What one process sees of the Nodes. */
    final class Client implements NodeClient {
        private final Link link;
        private final BooleanSupplier mayWrite;
        private final Map<String, ObservedNode> cache = new HashMap<>();
        private final Deque<ObservedNode> changes = new ArrayDeque<>();

        private Client(Link link, BooleanSupplier mayWrite) {
            this.link = link;
            this.mayWrite = mayWrite;
        }

        /** Delivers up to so many changes to the cache. */
        void watch(int most, Consumer<String> changed) {
            for (int i = 0; i < most && !changes.isEmpty() && !link.isCut(); i++) {
                ObservedNode node = changes.removeFirst();
                cache.put(node.name(), node);
                changed.accept(node.name());
            }
        }

        boolean upToDate() {
            return changes.isEmpty();
        }

        @Override
        public boolean hasSynced() {
            return cache.size() == nodes.size();
        }

        @Override
        public Optional<ObservedNode> cached(String name) {
            return Optional.ofNullable(cache.get(name));
        }

        @Override
        public NodeResponse read(String name) {
            Lockstep.pause();
            return call(() -> new NodeResponse.Succeeded(node(name)));
        }

        /** What the tests of a patch compare. */
        private static boolean sameOwn(ObservedNode observed, ObservedNode node) {
            return observed.uid().equals(node.uid())
                    && observed.applied().equals(node.applied())
                    && observed.label().equals(node.label())
                    && observed.recommendedAction().equals(node.recommendedAction())
                    && observed.unhealthyTaint().equals(node.unhealthyTaint())
                    && observed.facts().unschedulable() == node.facts().unschedulable();
        }

        @Override
        public NodeResponse patchNode(ObservedNode observed, NodePatchPlan.Patch patch) {
            return call(() -> {
                ObservedNode node = node(observed.name());
                if (!sameOwn(observed, node)) {
                    return new NodeResponse.Mismatch("a test of the patch failed");
                }
                assertThat(mayWrite.getAsBoolean())
                        .as("a Node is patched by a replica that may not act")
                        .isTrue();
                assertThat(foreign(patch.taints()))
                        .as("taints of others on %s", node.name())
                        .isEqualTo(foreign(observed.taints()));
                assertThat(patch.applied().revision())
                        .as("revision applied to %s", node.name())
                        .isGreaterThanOrEqualTo(node.applied().revision());
                boolean cordonChanges = patch.unschedulable() != node.facts().unschedulable();
                put(new ObservedNode(
                        node.name(),
                        new NodeFacts(node.uid(), "", true, patch.unschedulable(), true),
                        cordonChanges ? base(patch.unschedulable() ? PatchBase.FIELD_MANAGER : "") : node.base(),
                        patched(node, patch.taints()),
                        patch.label(),
                        patch.recommendedAction(),
                        patch.applied(),
                        node.condition()));
                return new NodeResponse.Succeeded(node(observed.name()));
            });
        }

        @Override
        public NodeResponse patchCondition(ObservedNode observed, Condition condition) {
            return call(() -> {
                ObservedNode node = node(observed.name());
                if (!observed.uid().equals(node.uid())) {
                    return new NodeResponse.Conflict();
                }
                assertThat(mayWrite.getAsBoolean())
                        .as("a condition of a replica that may not act")
                        .isTrue();
                put(new ObservedNode(
                        node.name(),
                        node.facts(),
                        node.base(),
                        node.taints(),
                        node.label(),
                        node.recommendedAction(),
                        node.applied(),
                        condition));
                return new NodeResponse.Succeeded(node(observed.name()));
            });
        }

        private NodeResponse call(java.util.function.Supplier<NodeResponse> request) {
            try {
                return link.call(request, () -> new IllegalStateException("no answer"));
            } catch (IllegalStateException lost) {
                return new NodeResponse.Unavailable("no answer");
            }
        }

        @Override
        public void recordEvent(ObservedNode node, boolean warning, String reason, String message) {}

        @Override
        public void warmUp() {}
    }

    /** The taint of ours that a Node has; null without one. */
    @Nullable
    String taint(String name) {
        return node(name).unhealthyTaint().map(Taint::value).orElse(null);
    }
}
