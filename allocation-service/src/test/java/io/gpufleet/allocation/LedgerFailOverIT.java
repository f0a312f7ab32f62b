package io.gpufleet.allocation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.proto.allocation.v1.NodeHoldings;
import io.gpufleet.proto.allocation.v1.UsageInterval;
import io.gpufleet.testbed.testkit.DaemonEventProducer;
import io.gpufleet.testbed.testkit.EventReader;
import io.gpufleet.testbed.testkit.ProgramProcess;
import io.gpufleet.testbed.testkit.TestBed;
import io.gpufleet.testbed.testkit.TestGpus;
import io.gpufleet.testbed.testkit.TracedReplicas;
import io.gpufleet.testbed.testkit.release.LaterRelease;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two replicas as processes, cut apart from the broker and the API server: whatever happens to the one that leads, each
 * holding is closed once and the sums are exact.
 */
@NullMarked
class LedgerFailOverIT {
    private static final Duration TIMEOUT = Duration.ofSeconds(90);
    private static final String ACTIVE = "gpufleet_active 1.0";
    private static final String STANDBY = "gpufleet_active 0.0";
    private static final String FIRST = "allocation-service-0";
    private static final String SECOND = "allocation-service-1";

    @TempDir
    private Path dir;

    private final Instant start = Instant.now().minusSeconds(3_600).truncatedTo(ChronoUnit.SECONDS);
    private TestBed bed;
    private TracedReplicas replicas;
    private DaemonEventProducer daemon;
    private ProgramProcess first;
    private ProgramProcess second;
    private int held;

    @BeforeEach
    void startTwoReplicas() throws IOException {
        bed = TestBed.startWithProxy(dir);
        replicas = new TracedReplicas(bed, dir);
        daemon = new DaemonEventProducer(bed.broker().bootstrap(), bed.codec(), "n1").announce(TestGpus.a100(1));
        first = replicas.startBehindProxy(FIRST, program());
        await().atMost(TIMEOUT).until(() -> first.hasMetric(ACTIVE));
        second = replicas.start(SECOND, program());
        await().atMost(TIMEOUT).until(() -> first.isReady() && second.isReady());
    }

    @AfterEach
    void stopAll() {
        daemon.close();
        replicas.close();
        bed.close();
    }

    private ProgramProcess.Builder program() {
        return ProgramProcess.of("allocation-service", AllocationMain.class.getName(), dir)
                .environment(Map.of("GPUFLEET_WEBHOOK_HOST", "127.0.0.1"))
                .freePort("GPUFLEET_WEBHOOK_PORT")
                .freePort("GPUFLEET_GRPC_PORT");
    }

    @Test
    void leaderThatStoodStillClosesNothingTwiceAndLeadsAgainAfterAKill() {
        // Given a holding that is open when the leader stands still
        hold();
        await().atMost(TIMEOUT).until(() -> open(first) == 1);
        first.suspend();
        release();
        hold();

        // Then the other one closes it
        await().atMost(TIMEOUT).until(() -> second.hasMetric(ACTIVE) && closed().size() == 1);

        // When the first one goes on, and the second is killed with a holding open
        first.resume();
        await().atMost(TIMEOUT).until(() -> first.hasMetric(STANDBY) && first.isReady());
        second.kill();
        release();

        // Then
        await().atMost(TIMEOUT).until(() -> first.hasMetric(ACTIVE) && seconds(first) == 200);
        assertThat(closed()).hasSize(2).doesNotHaveDuplicates();
    }

    @Test
    void leaderWithoutABrokerClosesNothingBesideItsSuccessor() {
        // Given
        hold();
        await().atMost(TIMEOUT).until(() -> open(first) == 1);

        // When the broker is cut off from the leader, and the API server hangs
        replicas.trace().hang(FIRST);
        bed.broker().proxy().cut();
        release();
        hold();
        release();

        // Then
        await().atMost(TIMEOUT).until(() -> first.hasMetric(STANDBY));
        await().atMost(TIMEOUT).until(() -> first.get("/readyz").body().contains("has not answered for"));
        await().atMost(TIMEOUT).until(() -> second.hasMetric(ACTIVE) && seconds(second) == 200);

        // When both are there again
        replicas.trace().release();
        bed.broker().proxy().heal();
        await().atMost(TIMEOUT).until(() -> first.isReady() && first.hasMetric(STANDBY));

        // Then
        assertThat(seconds(first)).isEqualTo(200);
        assertThat(closed()).hasSize(2).doesNotHaveDuplicates();
        assertThat(second.hasMetric(ACTIVE)).isTrue();
    }

    @Test
    void standbyThatFindsAStateOfALaterReleaseEndsWithALineThatSaysWhyAndTheLeaderGoesOn() {
        try (var later = new LaterRelease(bed, "allocation-service-9", Topic.HOLDINGS)) {
            // When
            later.write(EventType.HOLDINGS_CHANGED, NodeHoldings.getDefaultInstance());

            // Then
            assertThat(later.mistakesOfEnd(second, TIMEOUT)).isEmpty();
            assertThat(first.hasMetric(ACTIVE)).isTrue();
        }
    }

    /** The next pod holds the GPU for 100 s. */
    private void hold() {
        Instant from = start.plusSeconds(200L * held);
        daemon.allocate(from, 0);
        daemon.hold(from, Map.of(0, "pod-" + held));
    }

    private void release() {
        daemon.hold(start.plusSeconds(200L * held + 100), Map.of());
        held++;
    }

    private static int open(ProgramProcess service) {
        var answer = service.get("/v1/holdings");
        return answer.status() == 200
                ? new JsonObject(answer.body()).getJsonArray("holdings").size()
                : -1;
    }

    /** Of everything that was held so far, also of what is open. */
    private static double seconds(ProgramProcess service) {
        var answer = service.get("/v1/usage");
        return answer.status() == 200
                ? new JsonObject(answer.body())
                        .getJsonArray("usage").stream()
                                .map(JsonObject.class::cast)
                                .filter(row -> row.getString("quality").equals("allocated"))
                                .mapToDouble(row -> row.getDouble("gpuSeconds"))
                                .sum()
                : -1;
    }

    /** Intervals of pods, as a subscriber reads them. */
    private List<String> closed() {
        try (var reader = new EventReader(bed.broker().bootstrap(), bed.codec(), "n1", Topic.USAGE)) {
            return reader.read().stream()
                    .map(read -> read.event().payload())
                    .filter(UsageInterval.class::isInstance)
                    .map(UsageInterval.class::cast)
                    .filter(usage -> !usage.getPod().isEmpty())
                    .map(UsageInterval::getIntervalId)
                    .toList();
        }
    }
}
