package io.gpufleet.cli.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.testbed.fakekubelet.AdvertisedResource;
import io.gpufleet.testbed.fakekubelet.DeviceAllocation;
import io.gpufleet.testbed.fakekubelet.FakeKubelet;
import io.gpufleet.testbed.testkit.ProgramProcess;
import io.gpufleet.testbed.testkit.SimulatedFaults;
import io.gpufleet.testbed.testkit.TestBed;
import io.gpufleet.testbed.testkit.TestKubernetes;
import io.vertx.core.Vertx;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * An outage of the broker that is longer than the age up to which a fault is acted on. That age is three seconds here
 * instead of ten minutes. The minute after which open faults are listed again is not shortened: a health-service that
 * reconnects later than three seconds after the daemon acts on that list.
 */
class BrokerOutageIT {
    private static final Duration TIMEOUT = Duration.ofSeconds(120);
    private static final Duration MAX_ACTION_AGE = Duration.ofSeconds(3);
    private static final String GPU = "nvidia.com/gpu";

    @TempDir
    private Path directory;

    private final Vertx vertx = Vertx.vertx();
    private TestBed bed;
    private FakeKubelet kubelet;
    private ProgramProcess health;
    private ProgramProcess daemon;
    private SimulatedFaults faults;

    @BeforeEach
    void start() throws Exception {
        bed = TestBed.start(directory);
        String bootId =
                Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip();
        TestKubernetes.createNode(bed.client(), "node-1", bootId, Map.of());
        kubelet = FakeKubelet.start(vertx, directory.resolve("kubelet"));
        faults = new SimulatedFaults(directory.resolve("faults"));
        health = ProgramProcess.of("health-service", "io.gpufleet.health.HealthMain", directory)
                .environment(bed.settings())
                .environment(Map.of(
                        "GPUFLEET_MAX_ACTION_AGE", MAX_ACTION_AGE.toString(),
                        "GPUFLEET_MODE", "enforce",
                        "GPUFLEET_POOLS", "unlimited"))
                .freePort("GPUFLEET_GRPC_PORT")
                .start();
        daemon = ProgramProcess.of("node-daemon", "io.gpufleet.nodedaemon.NodeDaemonMain", directory)
                .environment(daemonSettings())
                .start();
        await().atMost(TIMEOUT).until(() -> healthyGpus() == 2);
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
    void faultDuringOutageTaintsNodeOnceBrokerIsBack() throws Exception {
        // Given
        bed.broker().kill();

        // When
        faults.inject(0, 79);
        Instant staleFrom = Instant.now().plus(MAX_ACTION_AGE);

        // Then
        await().atMost(TIMEOUT).until(() -> healthyGpus() == 1);
        DeviceAllocation given = kubelet.allocate("team-a", "meanwhile", "main", GPU, 1);
        assertThat(given.deviceIds()).hasSize(1);

        // When
        await().until(() -> Instant.now().isAfter(staleFrom));
        bed.broker().restart();

        // Then
        await().atMost(TIMEOUT)
                .untilAsserted(() -> assertThat(bed.client()
                                .nodes()
                                .withName("node-1")
                                .get()
                                .getSpec()
                                .getTaints())
                        .extracting(taint -> taint.getKey() + "=" + taint.getValue())
                        .containsExactly("gpufleet.io/unhealthy=Xid79"));
    }

    private long healthyGpus() {
        return kubelet.resource(GPU).map(AdvertisedResource::allocatable).orElse(0);
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
