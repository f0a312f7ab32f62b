package io.gpufleet.health;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Node;
import io.gpufleet.testbed.testkit.DaemonEventProducer;
import io.gpufleet.testbed.testkit.ProgramProcess;
import io.gpufleet.testbed.testkit.TestBed;
import io.gpufleet.testbed.testkit.TracedApiServer.Trace;
import io.gpufleet.testbed.testkit.TracedApiServer.Write;
import io.gpufleet.testbed.testkit.TracedReplicas;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two replicas as processes, each with its own recorded way to the API server: whatever happens to the one that leads, no taint
 * is missing, added twice or removed twice, and it writes nothing once another one may lead.
 */
class HealthServiceFailOverIT {
    private static final Duration TIMEOUT = Duration.ofSeconds(90);
    private static final String ACTIVE = "gpufleet_active 1.0";
    private static final String STANDBY = "gpufleet_active 0.0";
    private static final String FIRST = "health-service-0";
    private static final String SECOND = "health-service-1";
    private static final int NODES = 12;

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
        daemons.addAll(TestedHealthService.announceNodes(bed, NODES));
        first = replicas.startBehindProxy(FIRST, TestedHealthService.program(dir));
        await().atMost(TIMEOUT).until(() -> first.hasMetric(ACTIVE));
        second = replicas.start(SECOND, TestedHealthService.program(dir));
        await().atMost(TIMEOUT).until(() -> first.isReady() && second.isReady());
    }

    @AfterEach
    void stopAll() {
        daemons.forEach(DaemonEventProducer::close);
        replicas.close();
        bed.close();
    }

    @Test
    void killedLeaderLeavesNoTaintMissingDoubledOrRemovedTwice() {
        for (int node = 0; node < NODES; node++) {
            daemons.get(node).observeXid(0, 79);
            if (node == NODES / 2) {
                awaitTaint(0, true);
                first.kill();
            }
        }
        awaitAll(true);
        assertThat(second.hasMetric(ACTIVE)).isTrue();

        daemons.forEach(daemon -> daemon.clearXid(0, 79));

        awaitAll(false);
        eachTaintCameAndWentOnce();
    }

    @Test
    void leaderThatStoodStillWritesNothingWhenItGoesOn() {
        // Given
        daemons.get(0).observeXid(0, 79);
        awaitTaint(0, true);

        // When
        first.suspend();
        for (int node = 1; node < NODES; node++) {
            daemons.get(node).observeXid(0, 79);
        }
        awaitAll(true);
        daemons.get(0).clearXid(0, 79);
        awaitTaint(0, false);
        first.resume();
        await().atMost(TIMEOUT).until(() -> first.hasMetric(STANDBY) && first.isReady());

        // Then
        daemons.forEach(daemon -> daemon.clearXid(0, 79));
        awaitAll(false);
        onlyTheSecondWroteOnceItBegan();
        eachTaintCameAndWentOnce();
    }

    @Test
    void leaderWithoutABrokerStandsDownWhileACallHangs() {
        // Given a call that hangs
        trace.hold(FIRST);
        daemons.get(0).observeXid(0, 79);
        await().atMost(TIMEOUT).until(() -> trace.asked(FIRST) == 1);

        // When
        bed.broker().proxy().cut();

        // Then it stands down although the call still hangs, and the other one does its work
        await().atMost(TIMEOUT).until(() -> first.hasMetric(STANDBY));
        assertThat(trace.answered()).noneMatch(write -> write.replica().equals(FIRST));
        awaitTaint(0, true);
        daemons.get(0).clearXid(0, 79);
        awaitTaint(0, false);
        long asked = trace.asked(FIRST);

        // When the call that hung reaches the API server after all
        trace.release();
        await().atMost(TIMEOUT)
                .until(() -> trace.answered().stream()
                        .anyMatch(write -> write.replica().equals(FIRST)));
        bed.broker().proxy().heal();
        await().atMost(TIMEOUT).until(() -> first.isReady() && first.hasMetric(STANDBY));

        // Then
        assertThat(tainted(0)).isFalse();
        assertThat(trace.asked(FIRST)).isEqualTo(asked);
        onlyTheSecondWroteOnceItBegan();
    }

    @Test
    void everyTaintComesOnceAfterTheApiServerHung() {
        // Given
        trace.hold(FIRST);
        for (DaemonEventProducer daemon : daemons) {
            daemon.observeXid(0, 79);
        }
        // The client gave up at least once and asked again.
        await().atMost(TIMEOUT).until(() -> trace.asked(FIRST) > NODES);
        assertThat(trace.answered()).isEmpty();
        assertThat(first.hasMetric(ACTIVE)).isTrue();

        // When
        trace.release();

        // Then
        awaitAll(true);
        daemons.forEach(daemon -> daemon.clearXid(0, 79));
        awaitAll(false);
        eachTaintCameAndWentOnce();
    }

    private void eachTaintCameAndWentOnce() {
        for (int i = 0; i < NODES; i++) {
            String node = "node-" + i;
            List<Write> writes = trace.answered().stream()
                    .filter(write -> write.path().endsWith(node))
                    .toList();
            assertThat(writes.stream().filter(write -> write.addsTaint(node)))
                    .as("taints of %s in %s", node, writes)
                    .hasSize(1);
            assertThat(writes.stream().filter(write -> write.removesTaint(node)))
                    .as("ends of the taint of %s in %s", node, writes)
                    .hasSize(1);
        }
    }

    private void onlyTheSecondWroteOnceItBegan() {
        List<Write> writes = trace.answered().stream().filter(Write::succeeded).toList();
        assertThat(writes.stream()
                        .dropWhile(write -> write.replica().equals(FIRST))
                        .map(Write::replica)
                        .distinct())
                .containsExactly(SECOND);
    }

    private void awaitAll(boolean expected) {
        for (int node = 0; node < NODES; node++) {
            awaitTaint(node, expected);
        }
    }

    private void awaitTaint(int node, boolean expected) {
        await().atMost(TIMEOUT).until(() -> tainted(node) == expected);
    }

    private boolean tainted(int number) {
        Node node = bed.client().nodes().withName("node-" + number).require();
        return node.getSpec() != null
                && node.getSpec().getTaints().stream()
                        .anyMatch(taint -> taint.getKey().equals("gpufleet.io/unhealthy"));
    }
}
