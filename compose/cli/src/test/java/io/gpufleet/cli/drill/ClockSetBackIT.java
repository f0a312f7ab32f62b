package io.gpufleet.cli.drill;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.cli.local.FaultyNode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A service and a daemon whose clocks are set back, and which lose their broker. Kafka's clients count time-outs by that clock:
 * those from before must not be waited for, which would take an hour.
 */
class ClockSetBackIT {
    private static final Duration HOUR = Duration.ofHours(1);
    /** A program looks at its clock every second. */
    private static final Duration NOTICED = Duration.ofSeconds(3);

    private static final String ACTIVE = "gpufleet_active 1.0";

    @TempDir
    private Path directory;

    private ShiftedClock clock;
    private FaultyNode node;

    @BeforeEach
    void start() throws Exception {
        Awaitility.setDefaultTimeout(Duration.ofSeconds(90));
        clock = ShiftedClock.create(directory, "both");
        node = FaultyNode.start(directory, Map.of(), clock.variables());
        await().until(() -> node.health().hasMetric(ACTIVE));
        await().until(this::daemonIsConnected);
    }

    @AfterEach
    void stop() throws Exception {
        node.close();
    }

    @Test
    void brokerThatIsLostAfterTheClockCameBackIsFoundAgain() {
        // Given
        clock.set(HOUR);
        await().during(NOTICED).until(() -> learntOffset() < -3_500_000);
        clock.set(Duration.ZERO);
        await().during(NOTICED).until(() -> learntOffset() > -1_000_000);

        // When
        node.bed().broker().stop();
        node.faults().inject(0, 79);
        await().until(() -> node.health().log().contains("resigning: three terms in a row"));
        node.bed().broker().restart();

        // Then
        assertBothWork();
    }

    @Test
    void brokerThatIsLostWhileTheClockIsAheadIsFoundAgain() {
        // Given
        clock.set(HOUR);
        await().during(NOTICED).until(() -> learntOffset() < -3_500_000);

        // When
        node.bed().broker().stop();
        node.faults().inject(0, 79);
        await().until(() ->
                !node.health().hasMetric(ACTIVE) && node.daemon().log().contains("broker unreachable"));
        clock.set(Duration.ZERO);
        node.bed().broker().restart();

        // Then
        assertBothWork();
    }

    @Test
    void brokerThatIsLostAfterTheClockWasSetBehindIsFoundAgain() {
        // Given
        clock.set(HOUR.negated());
        await().during(NOTICED).until(() -> learntOffset() > 3_500_000);

        // When
        node.bed().broker().stop();
        node.faults().inject(0, 79);
        await().until(() -> node.health().log().contains("resigning: three terms in a row"));
        node.bed().broker().restart();

        // Then
        assertBothWork();

        // When
        clock.set(Duration.ZERO);
        await().until(() -> Math.abs(learntOffset()) < 1_000_000);

        // Then
        assertBothWork();
    }

    private void assertBothWork() {
        await().until(() -> node.health().hasMetric(ACTIVE));
        await().untilAsserted(() -> assertThat(node.taints()).containsExactly("gpufleet.io/unhealthy=Xid79"));
        await().until(() -> node.verdict().contains("Xid79"));
        await().until(this::daemonIsConnected);
    }

    private boolean daemonIsConnected() {
        return node.daemon().hasMetric("gpufleet_daemon_broker_connected 1");
    }

    /** How far the service believes the broker's clock to be ahead of its own, in milliseconds. */
    private double learntOffset() {
        return node.health()
                .get("/metrics")
                .body()
                .lines()
                .filter(line -> line.startsWith("gpufleet_projection_clock_offset_milliseconds "))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' '))))
                .findFirst()
                .orElse(Double.NaN);
    }
}
