package io.gpufleet.inventory.app;

import static io.gpufleet.inventory.model.Machines.a100;
import static io.gpufleet.inventory.model.Machines.announcement;
import static io.gpufleet.inventory.model.Machines.fleet;
import static io.gpufleet.inventory.model.Machines.h100;
import static io.gpufleet.inventory.model.Machines.node;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.inventory.model.Fleet;
import io.gpufleet.inventory.model.LabelGroup;
import io.gpufleet.inventory.model.LabelSet;
import io.gpufleet.inventory.model.NodeImage;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** When labels are written, what is left to others, and what is told about it. */
class LabelReconcilerTest {
    private static final Set<LabelGroup> GROUPS = Set.of(LabelGroup.GPU_TYPE, LabelGroup.ACCELERATOR);

    /** A Node on an API server that keeps who owns which label. */
    private static final class OneNode implements LabelWriter {
        final Map<String, String> foreign = new HashMap<>();
        final Deque<String> failures = new ArrayDeque<>();
        final List<LabelSet> written = new ArrayList<>();
        private String bootId = "boot-1";
        private Map<String, String> own = Map.of();

        synchronized NodeObject object() {
            var labels = new HashMap<>(own);
            labels.putAll(foreign);
            return new NodeObject("n1", "uid-1", bootId, true, false, labels, Map.of(), own.keySet());
        }

        @Override
        public synchronized Outcome apply(String node, String uid, LabelSet labels) {
            if (!failures.isEmpty()) {
                return new Outcome.Failed(failures.remove());
            }
            var taken = new TreeSet<>(labels.labels().keySet());
            taken.retainAll(foreign.keySet());
            if (!taken.isEmpty()) {
                return new Outcome.Owned(taken);
            }
            written.add(labels);
            own = labels.labels();
            return new Outcome.Applied(object());
        }
    }

    private static final class Told implements Observations {
        final List<String> lines = new ArrayList<>();

        @Override
        public void seen(NodeObject node) {}

        @Override
        public void gone(String node, String uid) {}

        @Override
        public synchronized void labelled(
                String node, String uid, long revision, List<String> conflicts, String error) {
            lines.add(conflicts + error);
        }
    }

    private final OneNode api = new OneNode();
    private final Told told = new Told();
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
    private volatile Fleet fleet = fleet(node("n1", announcement(a100(0))));
    private final LabelReconciler reconciler = new LabelReconciler(
            () -> fleet,
            api,
            told,
            Runnable::run,
            timer,
            new LabelReconciler.Manner(GROUPS, Duration.ofMillis(1), Duration.ofMillis(20)));

    @BeforeEach
    void begin() {
        reconciler.start();
    }

    @AfterEach
    void endTimer() {
        timer.shutdownNow();
    }

    private void now(NodeImage node) {
        fleet = fleet(node);
        reconciler.wake("n1");
    }

    @Test
    void seenNodeGetsItsLabelsOnce() {
        reconciler.seen(api.object());
        reconciler.seen(api.object());

        assertThat(api.object().labels()).isEqualTo(Map.of("gpu-type", "a100", "accelerator", "nvidia-tesla-a100"));
        assertThat(api.written).hasSize(1);
        assertThat(told.lines).containsExactly("[]");
    }

    @Test
    void anotherModelChangesThem() {
        reconciler.seen(api.object());
        now(node("n1", announcement(h100(0))));

        assertThat(api.object().labels()).isEqualTo(Map.of("gpu-type", "h100", "accelerator", "nvidia-h100"));
    }

    @Test
    void machineWithoutGpusLosesThem() {
        reconciler.seen(api.object());
        now(node("n1", announcement()));

        assertThat(api.object().labels()).isEmpty();
    }

    @Test
    void nodeOfAnotherBootIsLeftAlone() {
        api.bootId = "boot-2";
        reconciler.seen(api.object());
        assertThat(api.written).isEmpty();

        api.bootId = "";
        reconciler.seen(api.object());
        assertThat(api.written).isEmpty();
    }

    @Test
    void nodeThatIsNotManagedIsLeftAlone() {
        api.foreign.put(NodeObject.MANAGED, "false");
        reconciler.seen(api.object());
        assertThat(api.written).isEmpty();
    }

    @Test
    void labelOfSomebodyElseIsLeftToHimAndReported() {
        api.foreign.put("accelerator", "tpu");
        reconciler.seen(api.object());

        assertThat(api.object().labels()).isEqualTo(Map.of("gpu-type", "a100", "accelerator", "tpu"));
        assertThat(told.lines).containsExactly("[accelerator]");
    }

    @Test
    void keyThatSomebodyGaveUpIsTakenAtOnce() {
        api.foreign.put("accelerator", "tpu");
        reconciler.seen(api.object());
        api.foreign.clear();
        reconciler.seen(api.object());

        assertThat(api.object().labels()).containsEntry("accelerator", "nvidia-tesla-a100");
        assertThat(told.lines).containsExactly("[accelerator]", "[]");
    }

    @Test
    void foreignKeyIsTriedAgainAfterAWhile() {
        api.foreign.put("accelerator", "tpu");
        reconciler.seen(api.object());
        synchronized (api) {
            api.foreign.clear();
        }
        await().untilAsserted(
                        () -> assertThat(api.object().labels()).containsEntry("accelerator", "nvidia-tesla-a100"));
    }

    @Test
    void failureIsToldOnceAndTriedAgain() {
        api.failures.addAll(List.of("503 away", "503 away"));
        reconciler.seen(api.object());

        await().untilAsserted(() -> assertThat(api.object().labels()).containsEntry("gpu-type", "a100"));
        await().untilAsserted(() -> assertThat(told.lines).containsExactly("[]503 away", "[]"));
    }

    @Test
    void whoIsNotActiveWritesNothing() {
        reconciler.stop();
        reconciler.seen(api.object());
        assertThat(api.written).isEmpty();
    }

    @Test
    void stopWaitsForTheWriteInFlight() throws Exception {
        // Given
        var entered = new CountDownLatch(1);
        var release = new CountDownLatch(1);
        LabelWriter slow = (node, uid, labels) -> {
            entered.countDown();
            awaitQuietly(release);
            return api.apply(node, uid, labels);
        };
        var manner = new LabelReconciler.Manner(GROUPS, Duration.ofMillis(1), Duration.ofMinutes(1));
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var busy = new LabelReconciler(() -> fleet, slow, told, threads, timer, manner);
            busy.start();
            busy.seen(api.object());
            entered.await();
            // When
            var stopped = threads.submit(() -> {
                busy.stop();
                return List.copyOf(api.written);
            });
            release.countDown();
            // Then
            assertThat(stopped.get()).hasSize(1);
        }
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
