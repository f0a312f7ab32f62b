package io.gpufleet.cli.drill;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.testbed.fakekubelet.FakeKubelet;
import io.gpufleet.testbed.testkit.ProgramProcess;
import io.gpufleet.testbed.testkit.SimulatedFaults;
import io.gpufleet.testbed.testkit.TestBed;
import io.gpufleet.testbed.testkit.TestKubernetes;
import io.vertx.core.Vertx;
import java.nio.file.Files;
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

    private final Vertx vertx = Vertx.vertx();
    private TestBed bed;
    private FakeKubelet kubelet;
    private ShiftedClock clock;
    private ProgramProcess health;
    private ProgramProcess daemon;
    private SimulatedFaults faults;

    @BeforeEach
    void start() throws Exception {
        Awaitility.setDefaultTimeout(Duration.ofSeconds(90));
        bed = TestBed.start(directory);
        clock = ShiftedClock.create(directory, "both");
        String bootId =
                Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip();
        TestKubernetes.createNode(bed.client(), "node-1", bootId, Map.of());
        kubelet = FakeKubelet.start(vertx, directory.resolve("kubelet"));
        faults = new SimulatedFaults(directory.resolve("faults"));
        health = ProgramProcess.of("health-service", "io.gpufleet.health.HealthMain", directory)
                .environment(bed.settings())
                .environment(clock.variables())
                .environment(Map.of("GPUFLEET_MODE", "enforce", "GPUFLEET_POOLS", "unlimited"))
                .freePort("GPUFLEET_GRPC_PORT")
                .start();
        daemon = ProgramProcess.of("node-daemon", "io.gpufleet.nodedaemon.NodeDaemonMain", directory)
                .environment(clock.variables())
                .environment(daemonSettings())
                .start();
        await().until(() -> health.hasMetric(ACTIVE));
        await().until(this::daemonIsConnected);
    }

    @AfterEach
    void stop() throws Exception {
        daemon.close();
        health.close();
        kubelet.close();
        bed.close();
        vertx.close().toCompletionStage().toCompletableFuture().get();
    }

    @Test
    void brokerThatIsLostAfterTheClockCameBackIsFoundAgain() {
        // Given
        clock.set(HOUR);
        await().during(NOTICED).until(() -> learntOffset() < -3_500_000);
        clock.set(Duration.ZERO);
        await().during(NOTICED).until(() -> learntOffset() > -1_000_000);

        // When
        bed.broker().stop();
        faults.inject(0, 79);
        await().until(() -> health.log().contains("resigning: three terms in a row"));
        bed.broker().restart();

        // Then
        assertBothWork();
    }

    @Test
    void brokerThatIsLostWhileTheClockIsAheadIsFoundAgain() {
        // Given
        clock.set(HOUR);
        await().during(NOTICED).until(() -> learntOffset() < -3_500_000);

        // When
        bed.broker().stop();
        faults.inject(0, 79);
        await().until(() -> !health.hasMetric(ACTIVE) && daemon.log().contains("broker unreachable"));
        clock.set(Duration.ZERO);
        bed.broker().restart();

        // Then
        assertBothWork();
    }

    @Test
    void brokerThatIsLostAfterTheClockWasSetBehindIsFoundAgain() {
        // Given
        clock.set(HOUR.negated());
        await().during(NOTICED).until(() -> learntOffset() > 3_500_000);

        // When
        bed.broker().stop();
        faults.inject(0, 79);
        await().until(() -> health.log().contains("resigning: three terms in a row"));
        bed.broker().restart();

        // Then
        assertBothWork();

        // When
        clock.set(Duration.ZERO);
        await().until(() -> Math.abs(learntOffset()) < 1_000_000);

        // Then
        assertBothWork();
    }

    private void assertBothWork() {
        await().until(() -> health.hasMetric(ACTIVE));
        await().untilAsserted(() -> assertThat(
                        bed.client().nodes().withName("node-1").get().getSpec().getTaints())
                .extracting(taint -> taint.getKey() + "=" + taint.getValue())
                .containsExactly("gpufleet.io/unhealthy=Xid79"));
        await().until(this::daemonIsConnected);
    }

    private boolean daemonIsConnected() {
        return daemon.hasMetric("gpufleet_daemon_broker_connected 1");
    }

    /** How far the service believes the broker's clock to be ahead of its own, in milliseconds. */
    private double learntOffset() {
        return health.get("/metrics")
                .body()
                .lines()
                .filter(line -> line.startsWith("gpufleet_projection_clock_offset_milliseconds "))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' '))))
                .findFirst()
                .orElse(Double.NaN);
    }

    private Map<String, String> daemonSettings() {
        return Map.of(
                "GPUFLEET_CLUSTER", TestBed.CLUSTER,
                "GPUFLEET_KAFKA", bed.broker().bootstrap(),
                "GPUFLEET_NODE", "node-1",
                "GPUFLEET_DEVICES", "simulated:2xH100",
                "GPUFLEET_SIMULATION_DIR", faults.directory().toString(),
                "GPUFLEET_DEVICE_PLUGIN_DIR", kubelet.devicePluginDirectory().toString(),
                "GPUFLEET_POD_RESOURCES_SOCKET", kubelet.podResourcesSocket().toString(),
                "GPUFLEET_STATE_DIR", directory.resolve("state").toString(),
                "GPUFLEET_RUN_DIR", directory.resolve("run").toString());
    }
}
