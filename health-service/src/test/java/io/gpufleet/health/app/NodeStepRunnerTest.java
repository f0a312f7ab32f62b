package io.gpufleet.health.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.health.model.NodeScenario;
import io.gpufleet.health.model.NodeState;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Drains and hand-overs: each is a step of this runner. */
@NullMarked
class NodeStepRunnerTest {
    private static final int STEPS_OF_ANOTHER_NODE = 100;

    private final CatchUpStatus backlog = new CatchUpStatus();
    private final List<String> steps = new CopyOnWriteArrayList<>();
    private final NodeStepRunner runner = new NodeStepRunner("drain", backlog, this::step);

    private Optional<Duration> step(NodeState state) {
        steps.add(state.node().name());
        return Optional.empty();
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
}
