package io.gpufleet.inventory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.proto.bus.v1.ActiveReplica;
import io.gpufleet.proto.inventory.v1.NodeView;
import io.gpufleet.testbed.testkit.DaemonEventProducer;
import io.gpufleet.testbed.testkit.EventReader;
import io.gpufleet.testbed.testkit.ProgramProcess;
import io.gpufleet.testbed.testkit.TestBed;
import io.gpufleet.testbed.testkit.TestGpus;
import io.gpufleet.testbed.testkit.TestKubernetes;
import io.gpufleet.testbed.testkit.TracedApiServer.Trace;
import io.gpufleet.testbed.testkit.TracedReplicas;
import io.gpufleet.testbed.testkit.release.LaterRelease;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two replicas as processes, each with its own recorded way to the API server: whatever happens to the one that leads, every
 * Node has the labels of what its daemon announced last, and only one replica writes at any time.
 */
class InventoryServiceFailOverIT {
    private static final Duration TIMEOUT = Duration.ofSeconds(90);
    private static final String ACTIVE = "gpufleet_active 1.0";
    private static final String STANDBY = "gpufleet_active 0.0";
    private static final String FIRST = "inventory-service-0";
    private static final String SECOND = "inventory-service-1";
    private static final int NODES = 8;
    /** Exit status of a process that SIGTERM has ended. */
    private static final int TERMINATED = 143;

    @TempDir
    private Path dir;

    private final List<DaemonEventProducer> daemons = new ArrayList<>();
    private TestBed bed;
    private TracedReplicas replicas;
    private Trace trace;
    private ProgramProcess first;
    private ProgramProcess second;

    @BeforeEach
    void startTwoReplicas() throws IOException {
        bed = TestBed.startWithProxy(dir);
        replicas = new TracedReplicas(bed, dir);
        trace = replicas.trace();
        for (int i = 0; i < NODES; i++) {
            // In the boot that its daemon announces.
            TestKubernetes.createNode(bed.client(), "node-" + i, "boot-node-" + i, Map.of());
            daemons.add(new DaemonEventProducer(bed.broker().bootstrap(), bed.codec(), "node-" + i)
                    .announce(TestGpus.a100(2)));
        }
        first = replicas.startBehindProxy(FIRST, program());
        await().atMost(TIMEOUT).until(() -> first.hasMetric(ACTIVE));
        second = replicas.start(SECOND, program());
        await().atMost(TIMEOUT).until(() -> first.isReady() && second.isReady());
        awaitAll("a100");
    }

    @AfterEach
    void stopAll() {
        daemons.forEach(DaemonEventProducer::close);
        replicas.close();
        bed.close();
    }

    private ProgramProcess.Builder program() {
        return ProgramProcess.of("inventory-service", InventoryMain.class.getName(), dir)
                .freePort("GPUFLEET_GRPC_PORT");
    }

    @Test
    void leaderThatStoodStillWritesNothingUntilItsSuccessorIsKilled() {
        // When the leader stands still
        first.suspend();
        announceAll(TestGpus.h100(2));

        // Then the other one labels, and goes on doing so alone
        awaitAll("h100");
        first.resume();
        await().atMost(TIMEOUT).until(() -> first.hasMetric(STANDBY) && first.isReady());
        announceAll(TestGpus.a100(2));
        awaitAll("a100");
        assertThat(trace.writersInTurn()).containsExactly(FIRST, SECOND);

        // When that one is killed amid what changes
        announceAll(TestGpus.h100(2));
        second.kill();

        // Then nothing is missing
        awaitAll("h100");
        assertThat(first.hasMetric(ACTIVE)).isTrue();
        assertThat(trace.writersInTurn()).containsExactly(FIRST, SECOND, FIRST);
    }

    @Test
    void leaderWithoutABrokerStandsDownWhileACallHangs() {
        // Given a call that hangs
        long before = trace.asked(FIRST);
        trace.hold(FIRST);
        daemons.getFirst().announce(TestGpus.h100(2));
        await().atMost(TIMEOUT).until(() -> trace.asked(FIRST) > before);

        // When
        bed.broker().proxy().cut();

        // Then it stands down although the call still hangs, and the other one does its work
        await().atMost(TIMEOUT).until(() -> first.hasMetric(STANDBY));
        await().atMost(TIMEOUT).until(() -> first.get("/readyz").body().contains("has not answered for"));
        awaitLabel(0, "h100");
        daemons.getFirst().announce(TestGpus.a100(2));
        awaitLabel(0, "a100");
        long asked = trace.asked(FIRST);

        // When the call that hung reaches the API server after all
        trace.release();
        await().atMost(TIMEOUT)
                .until(() -> trace.answered().stream()
                                .filter(write -> write.replica().equals(FIRST))
                                .count()
                        > before);
        bed.broker().proxy().heal();
        await().atMost(TIMEOUT).until(() -> first.isReady() && first.hasMetric(STANDBY));

        // Then it was the last one, and what it wrote does not stay
        awaitAll("a100");
        assertThat(trace.asked(FIRST)).isEqualTo(asked);
    }

    @Test
    void leaderThatIsTerminatedClosesEveryPartWithoutABrokerAndResignsWithOne() {
        // When
        bed.broker().proxy().cut();
        assertThat(first.terminate(TIMEOUT)).isEqualTo(TERMINATED);

        // Then
        assertThat(first.log()).contains("the projection did not end in time").doesNotContain("not closed in time");

        // When
        await().atMost(TIMEOUT).until(() -> second.hasMetric(ACTIVE));
        assertThat(second.terminate(TIMEOUT)).isEqualTo(TERMINATED);

        // Then
        assertThat(second.log()).doesNotContain("the projection did not end in time", "not closed in time");
        try (var changelog = new EventReader(bed.broker().bootstrap(), bed.codec(), "@active", Topic.NODES)) {
            var last = (ActiveReplica) changelog.read().getLast().event().payload();
            assertThat(last.getInstance()).isEqualTo(SECOND);
            assertThat(last.getResigned()).isTrue();
        }
    }

    @Test
    void standbyThatFindsAStateOfALaterReleaseEndsWithALineThatSaysWhyAndTheLeaderGoesOn() {
        try (var later = new LaterRelease(bed, "inventory-service-9", Topic.NODES)) {
            // When
            later.write(EventType.NODE_VIEWED, NodeView.getDefaultInstance());

            // Then
            assertThat(later.mistakesOfEnd(second, TIMEOUT)).isEmpty();
            assertThat(first.hasMetric(ACTIVE)).isTrue();
        }
    }

    private void announceAll(TestGpus gpus) {
        daemons.forEach(daemon -> daemon.announce(gpus));
    }

    private void awaitAll(String type) {
        for (int node = 0; node < NODES; node++) {
            awaitLabel(node, type);
        }
    }

    private void awaitLabel(int node, String type) {
        await().atMost(TIMEOUT)
                .until(() -> type.equals(bed.client()
                        .nodes()
                        .withName("node-" + node)
                        .require()
                        .getMetadata()
                        .getLabels()
                        .get("gpu-type")));
    }
}
