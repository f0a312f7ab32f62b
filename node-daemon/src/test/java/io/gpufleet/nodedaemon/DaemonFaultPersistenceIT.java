package io.gpufleet.nodedaemon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.testbed.fakekubelet.FakeKubelet;
import io.gpufleet.testbed.testkit.SocketDirectory;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Faults of a daemon process with a kubelet and a kernel log, without a broker. */
class DaemonFaultPersistenceIT {
    private static final String GPUS = "nvidia.com/gpu";
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    /** PCI address of the third simulated GPU as in the kernel log. */
    private static final String THIRD = "PCI:0000:17:00";

    @TempDir
    Path directory;

    private Vertx vertx;
    private FakeKubelet kubelet;

    @BeforeEach
    void start() throws IOException {
        vertx = Vertx.vertx();
        kubelet = FakeKubelet.start(vertx, SocketDirectory.create());
    }

    @AfterEach
    void stop() {
        kubelet.close();
        vertx.close();
    }

    private DaemonProcess daemon(Map<String, String> more) throws IOException {
        var settings = new java.util.HashMap<>(Map.of(
                "GPUFLEET_KAFKA", "127.0.0.1:1",
                "GPUFLEET_NODE", "n-survival",
                "GPUFLEET_KMSG", directory.resolve("kmsg").toString(),
                "GPUFLEET_IGNORE_VERDICTS_FILE",
                        directory.resolve("ignore-verdicts").toString(),
                "GPUFLEET_DEVICE_PLUGIN_DIR", kubelet.devicePluginDirectory().toString(),
                "GPUFLEET_POD_RESOURCES_SOCKET", kubelet.podResourcesSocket().toString()));
        settings.putAll(more);
        Files.createFile(directory.resolve("kmsg"));
        return new DaemonProcess(directory, settings);
    }

    private void awaitAllocatable(int registrations, int devices) {
        await().atMost(TIMEOUT)
                .until(() -> kubelet.registrations(GPUS) == registrations
                        && kubelet.resource(GPUS)
                                .filter(view -> view.connected() && view.allocatable() == devices)
                                .isPresent());
    }

    private void kernelPrints(long sequence, String text) throws IOException {
        // A time after any real uptime, so that the record is never before the start.
        String kernelRecord = "3," + sequence + ",900000000000000000,-;" + text + "\n";
        Files.writeString(directory.resolve("kmsg"), kernelRecord, StandardOpenOption.APPEND);
    }

    @Test
    void faultSurvivesRestartsOfKubeletAndDaemon() throws Exception {
        try (var daemon = daemon(Map.of())) {
            awaitAllocatable(1, 8);
            daemon.fault(2, 79);
            awaitAllocatable(1, 7);

            kubelet.restart();
            awaitAllocatable(2, 7);

            await().atMost(TIMEOUT)
                    .until(() -> Files.readString(directory.resolve("state/devices.json"))
                            .contains("xid-79"));
            daemon.kill();
            daemon.clear(2);
            daemon.restart();
            awaitAllocatable(3, 7);
        }
    }

    @Test
    void faultInTheKernelLogOnlyWithdrawsItsGpuUntilPollsProveItResolved() throws Exception {
        try (var daemon = daemon(Map.of("GPUFLEET_RECOVERY_DWELL", "1s"))) {
            awaitAllocatable(1, 8);

            kernelPrints(1, "NVRM: Xid (" + THIRD + "): 119, pid=1, Timeout waiting for RPC from GPU2 GSP!");

            await().atMost(TIMEOUT).until(() -> daemon.log().contains("fault=Xid[code=119] withdraws=true"));
            await().atMost(TIMEOUT).until(() -> daemon.log().contains("recovery action NONE, handle responds"));
            awaitAllocatable(1, 8);
            assertThat(daemon.page("/metrics"))
                    .contains("gpufleet_daemon_faults_observed_total{fault=\"xid-119\"} 1")
                    .contains("gpufleet_daemon_verdicts_ignored 0");

            Files.createFile(directory.resolve("ignore-verdicts"));
            await().atMost(TIMEOUT).until(() -> daemon.page("/metrics").contains("gpufleet_daemon_verdicts_ignored 1"));
            assertThat(daemon.log()).contains("verdicts ignored while the file exists");
        }
    }
}
