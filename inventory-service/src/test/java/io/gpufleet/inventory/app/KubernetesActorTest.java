package io.gpufleet.inventory.app;

import static io.gpufleet.inventory.model.TestNodes.a100;
import static io.gpufleet.inventory.model.TestNodes.announcement;
import static io.gpufleet.inventory.model.TestNodes.fleet;
import static io.gpufleet.inventory.model.TestNodes.node;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.inventory.model.label.LabelGroup;
import io.gpufleet.inventory.model.label.LabelSet;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Terms of the actor, and the lease before each write. */
class KubernetesActorTest {
    private static final NodeObject OBJECT =
            new NodeObject("n1", "uid-1", "boot-1", true, false, Map.of(), Map.of(), Set.of());

    private final List<String> calls = new CopyOnWriteArrayList<>();
    private final Queue<Runnable> waiting = new ArrayDeque<>();
    private final RetryTimer timer = new RetryTimer("retry");
    private final SignalSink signals = new SignalSink() {
        @Override
        public void nodeObserved(NodeObject node) {}

        @Override
        public void nodeDeleted(String node, String uid) {}

        @Override
        public void labelsApplied(String node, String uid, long revision, List<String> conflicts, String error) {}
    };
    private List<NodeListener> listeners = List.of();
    private volatile boolean held = true;
    private final KubernetesActor actor =
            new KubernetesActor(this::write, writer -> reconciler(writer, waiting::add), signals, this::watch);

    private LabelReconciler reconciler(LabelWriter writer, Executor workers) {
        var settings = new LabelReconciler.ReconcilerSettings(
                Set.of(LabelGroup.GPU_TYPE), Duration.ofMillis(1), Duration.ofMinutes(1));
        return new LabelReconciler(
                () -> fleet(node("n1", announcement(a100(0)))), writer, signals, workers, timer, settings);
    }

    private LabelWriter.ApplyResult write(String node, String uid, LabelSet labels) {
        calls.add("apply");
        return new LabelWriter.ApplyResult.Failed("503 unavailable");
    }

    private KubernetesActor.Watch watch(List<NodeListener> opened) {
        calls.add("watch");
        listeners = opened;
        return () -> calls.add("watch closed");
    }

    private boolean lease() {
        calls.add("lease");
        return held;
    }

    private void observeNode() {
        listeners.forEach(listener -> listener.onChanged(OBJECT));
    }

    private void work() {
        for (Runnable task = waiting.poll(); task != null; task = waiting.poll()) {
            task.run();
        }
    }

    @AfterEach
    void closeTimer() {
        timer.close();
    }

    @Test
    void leaseIsAskedImmediatelyBeforeTheWrite() {
        actor.begin(this::lease);
        observeNode();
        work();

        assertThat(calls).containsExactly("watch", "lease", "apply");
    }

    @Test
    void nothingIsWrittenWithoutTheLeaseAndTheWriteFollowsOnceItIsHeld() {
        // Given
        held = false;
        var eager = new KubernetesActor(this::write, writer -> reconciler(writer, Runnable::run), signals, this::watch);
        eager.begin(this::lease);
        // When
        observeNode();
        await().until(() -> calls.stream().filter("lease"::equals).count() > 3);
        // Then
        assertThat(calls).doesNotContain("apply");

        held = true;
        await().until(() -> calls.contains("apply"));
        eager.end();
    }

    @Test
    void writeThatIsQueuedAtTheEndOfTheTermIsNotBegun() {
        actor.begin(this::lease);
        observeNode();
        actor.end();
        work();
        observeNode();
        actor.changed("n1");
        work();

        assertThat(calls).containsExactly("watch", "watch closed");
    }

    @Test
    void reconciliationUnderWayAtTheEndOfTheTermWritesNothing() {
        // Given a lease that outlives the term, as a resigning leader's does
        var leased = new LeasedLabelWriter(this::write, this::lease);
        // When
        leased.end();
        var result = leased.apply("n1", "uid-1", LabelSet.NONE);
        // Then
        assertThat(result).isEqualTo(new LabelWriter.ApplyResult.NotLeading());
        assertThat(calls).isEmpty();
    }

    @Test
    void nextTermObservesAndWritesAnew() {
        actor.begin(this::lease);
        actor.end();
        actor.begin(this::lease);
        observeNode();
        work();

        assertThat(calls).containsExactly("watch", "watch closed", "watch", "lease", "apply");
    }
}
