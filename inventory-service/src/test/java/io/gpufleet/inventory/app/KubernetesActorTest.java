package io.gpufleet.inventory.app;

import static io.gpufleet.inventory.model.TestNodes.T0;
import static io.gpufleet.inventory.model.TestNodes.a100;
import static io.gpufleet.inventory.model.TestNodes.announcement;
import static io.gpufleet.inventory.model.TestNodes.fleet;
import static io.gpufleet.inventory.model.TestNodes.node;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.inventory.model.Fleet;
import io.gpufleet.inventory.model.NodeDelta;
import io.gpufleet.inventory.model.NodeSettings;
import io.gpufleet.inventory.model.NodeState;
import io.gpufleet.inventory.model.Presence;
import io.gpufleet.inventory.model.label.LabelGroup;
import io.gpufleet.inventory.model.label.LabelSet;
import io.gpufleet.inventory.model.taint.NodeTaints;
import io.gpufleet.inventory.model.taint.TaintPlan;
import io.gpufleet.runtime.workqueue.Backoff;
import io.gpufleet.runtime.workqueue.ManualScheduler;
import io.gpufleet.runtime.workqueue.WorkScheduler;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** Terms of the actor, and the lease before each write. */
class KubernetesActorTest {
    private static final Backoff BACKOFF = new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(64));
    private static final NodeObject OBJECT =
            new NodeObject("n1", "uid-1", "boot-1", true, false, Map.of(), NodeObject.Owned.NONE, NodeTaints.NONE);

    private final List<String> calls = new CopyOnWriteArrayList<>();
    private final List<String> facts = new CopyOnWriteArrayList<>();
    private final CompletableFuture<Void> synced = new CompletableFuture<>();
    private final Set<String> objects = new HashSet<>();
    private Fleet fleet = fleet(node("n1", announcement(a100(0))));
    private final ManualScheduler scheduler = ManualScheduler.onRequest();
    private final SignalSink signals = new SignalSink() {
        @Override
        public void nodeObserved(NodeObject node) {
            facts.add("observed " + node.name() + " " + node.uid());
        }

        @Override
        public void nodeDeleted(String node, String uid) {
            facts.add("deleted " + node + " " + uid);
        }

        @Override
        public void labelsApplied(String node, String uid, long revision, List<String> conflicts, String error) {}
    };
    private List<NodeListener> listeners = List.of();
    private volatile boolean held = true;
    private final KubernetesActor actor = new KubernetesActor(
            () -> fleet, new FailingNodeWriter(), writer -> reconciler(writer, scheduler), signals, this::watch);

    private LabelReconciler reconciler(NodeWriter writer, WorkScheduler threads) {
        var settings = new LabelReconciler.ReconcilerSettings(
                Set.of(LabelGroup.GPU_TYPE), Set.of(), LabelMode.WRITE, BACKOFF, Duration.ofMinutes(1));
        return new LabelReconciler(() -> fleet, writer, signals, threads, settings, new LabelDifferences());
    }

    private class FailingNodeWriter implements NodeWriter {
        @Override
        public ApplyResult apply(String node, String uid, LabelSet labels) {
            calls.add("apply");
            return new ApplyResult.Failed("503 unavailable");
        }

        @Override
        public PatchResult patchTaints(NodeObject observed, TaintPlan plan) {
            throw new AssertionError("no taint is desired");
        }

        @Override
        public void recordEvent(NodeObject node, KubernetesNodeEvent event) {
            throw new AssertionError("no driver is installed");
        }
    }

    private KubernetesActor.Watch watch(List<NodeListener> opened) {
        calls.add("watch");
        listeners = opened;
        return new KubernetesActor.Watch() {
            @Override
            public CompletionStage<Void> synced() {
                return synced;
            }

            @Override
            public boolean lacks(String node) {
                return synced.isDone() && !objects.contains(node);
            }

            @Override
            public void close() {
                calls.add("watch closed");
            }
        };
    }

    private boolean lease() {
        calls.add("lease");
        return held;
    }

    private void observeNode() {
        listeners.forEach(listener -> listener.onChanged(OBJECT));
    }

    private void pass(Duration time) {
        scheduler.advance(time);
        scheduler.work();
    }

    @Test
    void leaseIsAskedImmediatelyBeforeTheWrite() {
        actor.begin(this::lease);
        observeNode();
        scheduler.work();

        assertThat(calls).containsExactly("watch", "lease", "apply");
    }

    @Test
    void nothingIsWrittenWithoutTheLeaseAndTheWriteFollowsOnceItIsHeld() {
        // Given
        held = false;
        actor.begin(this::lease);
        // When
        observeNode();
        scheduler.work();
        pass(BACKOFF.initial());
        pass(BACKOFF.initial());
        // Then
        assertThat(calls).containsExactly("watch", "lease", "lease", "lease");

        held = true;
        pass(BACKOFF.initial());
        assertThat(calls).endsWith("lease", "apply");
    }

    @Test
    void writeThatIsQueuedAtTheEndOfTheTermIsNotBegun() {
        actor.begin(this::lease);
        observeNode();
        actor.end();
        scheduler.work();
        observeNode();
        actor.changed("n1");
        scheduler.work();

        assertThat(calls).containsExactly("watch", "watch closed");
    }

    @Test
    void reconciliationUnderWayAtTheEndOfTheTermWritesNothing() {
        // Given a lease that outlives the term, as a resigning leader's does
        var leased = new LeasedNodeWriter(new FailingNodeWriter(), this::lease);
        // When
        leased.end(Duration.ZERO);
        var result = leased.apply("n1", "uid-1", LabelSet.NONE);
        // Then
        assertThat(result).isEqualTo(new NodeWriter.ApplyResult.NotLeading());
        assertThat(calls).isEmpty();
    }

    @Test
    void endOfTheTermWaitsForTheWriteInFlight() throws Exception {
        // Given
        var entered = new CountDownLatch(1);
        var release = new CountDownLatch(1);
        var leased = new LeasedNodeWriter(
                new FailingNodeWriter() {
                    @Override
                    public ApplyResult apply(String node, String uid, LabelSet labels) {
                        entered.countDown();
                        awaitQuietly(release);
                        calls.add("written");
                        return new ApplyResult.Failed("");
                    }
                },
                () -> true);
        var writer = Thread.ofVirtual().start(() -> leased.apply("n1", "uid-1", LabelSet.NONE));
        entered.await();
        // When
        var ending = Thread.ofVirtual().start(() -> {
            leased.end(Duration.ofMinutes(1));
            calls.add("ended");
        });
        await().until(() -> ending.getState() == Thread.State.TIMED_WAITING);
        release.countDown();
        writer.join();
        ending.join();
        // Then
        assertThat(calls).containsExactly("written", "ended");
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void nextTermObservesAndWritesAnew() {
        actor.begin(this::lease);
        actor.end();
        actor.begin(this::lease);
        observeNode();
        scheduler.work();

        assertThat(calls).containsExactly("watch", "watch closed", "watch", "lease", "apply");
    }

    private static NodeState withObject(String name, String uid) {
        return node(name, announcement(a100(0))).withNodeObject(uid, NodeSettings.NONE);
    }

    @Test
    void objectDeletedWhileNobodyWatchedIsReportedOnceAllAreListed() {
        // Given
        fleet = fleet(withObject("n1", "uid-1"), withObject("gone", "uid-9"), node("none", announcement(a100(0))));
        objects.add("n1");
        actor.begin(this::lease);
        actor.changed("gone");
        assertThat(facts).isEmpty();
        // When
        synced.complete(null);
        // Then
        assertThat(facts).containsExactly("deleted gone uid-9");
    }

    @Test
    void objectThatIsFoldedAfterItsDeletionIsReportedWhenItsViewChanges() {
        actor.begin(this::lease);
        objects.add("n1");
        synced.complete(null);
        fleet = fleet(withObject("n1", "uid-1"), withObject("late", "uid-3"));

        actor.changed("n1");
        actor.changed("late");

        assertThat(facts).containsExactly("deleted late uid-3");
    }

    @Test
    void nodeWithoutObjectIsReportedWhenItDepartsOrIsLost() {
        // Given
        actor.begin(this::lease);
        synced.complete(null);
        actor.changed("n1");
        assertThat(facts).isEmpty();
        // When
        fleet = fleet(node("n1", announcement(a100(0))).with(new Presence.Lost(T0)));
        actor.changed("n1");
        // Then
        assertThat(facts).containsExactly("deleted n1 ");
        assertThat(fleet.nodeOrUnknown("n1")
                        .apply(new NodeDelta.NodeObjectDeleted(""))
                        .isEmpty())
                .isTrue();
    }

    @Test
    void objectReplacedWhileNobodyWatchedIsReportedDeletedBeforeItsSuccessor() {
        fleet = fleet(withObject("n1", "uid-0"));
        actor.begin(this::lease);
        observeNode();
        observeNode();

        assertThat(facts).containsExactly("deleted n1 uid-0", "observed n1 uid-1");
    }
}
