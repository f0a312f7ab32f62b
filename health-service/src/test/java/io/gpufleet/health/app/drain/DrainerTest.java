package io.gpufleet.health.app.drain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.health.app.CatchUpStatus;
import io.gpufleet.health.app.CurrentLease;
import io.gpufleet.health.model.NodeScenario;
import io.gpufleet.health.model.NodeState;
import io.gpufleet.health.model.drain.DrainAdmission;
import io.gpufleet.health.model.drain.DrainMode;
import io.gpufleet.health.model.drain.DrainSettings;
import io.gpufleet.health.model.drain.PodOnNode;
import io.gpufleet.health.model.policy.TestPolicies;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Drains while a backlog is read: each node waits for its own partition. */
class DrainerTest {
    private final List<String> listed = new CopyOnWriteArrayList<>();
    private final List<String> reported = new CopyOnWriteArrayList<>();
    private final CatchUpStatus backlog = new CatchUpStatus();
    private final CurrentLease lease = new CurrentLease();
    private final DrainAdmission admission = new DrainAdmission();
    private final Drainer drainer = new Drainer(
            new DrainStep(
                    new ListedPods(),
                    (node, _) -> record(node),
                    admission,
                    () -> DrainSettings.DEFAULT,
                    lease,
                    Clock.systemUTC()),
            admission,
            backlog);

    /** No node has a pod, and who changes one is told so. */
    private final class ListedPods implements PodClient {
        @Override
        public PodList onNode(String node) {
            listed.add(node);
            return new PodList.Listed(List.of());
        }

        @Override
        public PodResponse giveNotice(PodOnNode pod, Instant evictionAt, String message) {
            return new PodResponse.Gone();
        }

        @Override
        public PodResponse withdrawNotice(PodOnNode pod) {
            return new PodResponse.Gone();
        }

        @Override
        public PodResponse evict(PodOnNode pod) {
            return new PodResponse.Gone();
        }

        @Override
        public PodResponse delete(PodOnNode pod) {
            return new PodResponse.Gone();
        }
    }

    private CompletionStage<Void> record(String node) {
        reported.add(node);
        return CompletableFuture.completedFuture(null);
    }

    @AfterEach
    void close() {
        drainer.close();
    }

    private static NodeState tainted(String node) {
        return new NodeScenario(node, TestPolicies.draining(DrainMode.GPU_PODS))
                .nodeObserved("uid-1")
                .announced("gpu-0")
                .xid("gpu-0", 79)
                .state();
    }

    @Test
    void noDrainStepIsDoneBeforeThePartitionOfItsNodeIsRead() {
        // Given
        lease.begin(() -> true);
        backlog.begin();
        assertThat(backlog.isRead("read")).isFalse();
        backlog.read("read"::equals);

        // When
        drainer.begin(List.of(tainted("unread"), tainted("read")));

        // Then
        await().until(() -> reported.contains("read"));
        assertThat(listed).containsOnly("read");
        assertThat(reported).containsOnly("read");
        backlog.allRead();
        await().until(() -> reported.contains("unread"));
    }
}
