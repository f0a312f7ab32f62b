package io.gpufleet.health.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.health.model.NodeScenario;
import io.gpufleet.health.model.NodeState;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Drains and hand-overs: each is a step of this runner. */
@NullMarked
class NodeStepRunnerTest {
    private static final int STEPS_OF_ANOTHER_NODE = 100;

    private final CatchUpStatus backlog = new CatchUpStatus();
    private final List<String> steps = new CopyOnWriteArrayList<>();
    private final Set<String> running = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean atOnce = new AtomicBoolean();
    private volatile CountDownLatch hold = new CountDownLatch(0);
    private final NodeStepRunner runner = new NodeStepRunner("drain", backlog, this::step);

    private Optional<Duration> step(NodeState state) {
        String node = state.node().name();
        atOnce.compareAndSet(false, !running.add(node));
        steps.add(node);
        if (node.equals("node-1")) {
            awaitQuietly(hold);
        }
        running.remove(node);
        return Optional.empty();
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @AfterEach
    void close() {
        runner.close();
    }

    private void request(String node) {
        runner.request(NodeState.unknown(node, NodeScenario.START));
    }

    @Test
    void noStepIsDoneForANodeBeforeItsBacklogIsRead() {
        // Given a backlog that is read for another node only
        backlog.begin();
        assertThat(backlog.isRead("other")).isFalse();
        backlog.read("other"::equals);
        runner.begin();

        // When
        request("node-1");
        for (int done = 0; done < STEPS_OF_ANOTHER_NODE; done++) {
            int before = done;
            request("other");
            await().until(() -> steps.size() > before);
        }

        // Then
        assertThat(steps).containsOnly("other");
        backlog.allRead();
        await().until(() -> steps.contains("node-1"));
    }

    @Test
    void noStepIsDoneBeforeATermBegins() {
        backlog.allRead();
        request("node-1");
        runner.begin();

        request("node-2");

        await().until(() -> !steps.isEmpty());
        assertThat(steps).containsExactly("node-2");
    }

    private void beginStepThatIsHeld() {
        backlog.allRead();
        runner.begin();
        hold = new CountDownLatch(1);
        request("node-1");
        await().until(() -> steps.size() == 1);
    }

    /** A step of another node shows that steps are begun. */
    private void assertThatAnotherStepWaits() {
        request("node-1");
        request("node-2");
        await().until(() -> steps.contains("node-2"));
        assertThat(steps).containsExactly("node-1", "node-2");
        hold.countDown();
        await().until(() -> steps.size() == 3);
        assertThat(atOnce).isFalse();
    }

    @Test
    void stepThatOutlivesItsTermIsTheOnlyOneOfItsNode() {
        beginStepThatIsHeld();

        // When the next term wants a step of the same node
        runner.end();
        runner.begin();
        // Then
        assertThatAnotherStepWaits();
    }

    @Test
    void nodeThatIsForgottenAndWantedAgainDuringItsStepHasNoSecondOneBeside() {
        beginStepThatIsHeld();

        runner.forget("node-1");
        assertThatAnotherStepWaits();
    }
}
