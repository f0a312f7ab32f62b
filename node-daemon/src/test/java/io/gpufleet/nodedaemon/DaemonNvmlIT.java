package io.gpufleet.nodedaemon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.nodedaemon.nvml.FakeNvml;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A daemon process with a fake NVML library that fails. */
class DaemonNvmlIT {
    private static final int RESTART_EXIT_STATUS = 3;
    private static final int UNKNOWN = 999;

    @TempDir
    private Path root;

    @Test
    void thirdHungCallRestartsTheProcessWhichListsEveryDeviceIncludingTheLost()
            throws IOException, InterruptedException {
        try (var nvml = partitioned(FakeNvml.install(root.resolve("driver"), 4));
                var daemon = new DaemonProcess(root, settings(nvml))) {
            // Given
            await().until(() -> daemon.page("/metrics").contains("\ngpufleet_daemon_devices_healthy 5\n"));
            nvml.hang("nvmlDeviceGetUUID", 1).hang("nvmlDeviceGetUUID", 2);
            await().until(() -> nvml.counter("hanging") == 2);
            assertThat(daemon.page("/livez")).startsWith("200");

            // When
            nvml.hang("nvmlDeviceGetUUID", 3);

            // Then
            assertThat(daemon.exit()).isEqualTo(RESTART_EXIT_STATUS);
            assertThat(daemon.log())
                    .contains("exiting with status 3 to be restarted")
                    .contains("3 NVML calls hang, last one:");
            String kept = Files.readString(root.resolve("state/devices.json"));
            for (int gpu = 1; gpu <= 3; gpu++) {
                assertThat(kept)
                        .containsPattern("\"gpu\" : \"" + FakeNvml.uuid(gpu) + "\",\\s+\"fault\" : \"nvml-hung\"");
            }

            // When
            nvml.clearRules().lost(1, true);
            daemon.restart();

            // Then
            await().until(() -> daemon.page("/metrics").contains("\ngpufleet_daemon_devices_healthy 1\n"));
            assertThat(daemon.page("/metrics")).contains("\ngpufleet_daemon_devices_listed 5\n");
        }
    }

    @Test
    void gpuWithUnreadableMemoryIsNotOfferedAsHealthy() throws IOException, InterruptedException {
        try (var nvml = FakeNvml.install(root.resolve("driver"), 4)) {
            // Given
            nvml.fail("nvmlDeviceGetMemoryInfo_v2", 2, UNKNOWN).fail("nvmlDeviceGetMemoryInfo", 2, UNKNOWN);

            // When
            try (var daemon = new DaemonProcess(root, settings(nvml))) {
                // Then
                await().until(() -> daemon.page("/metrics").contains("\ngpufleet_daemon_devices_healthy 3\n"));
                assertThat(daemon.page("/metrics"))
                        .contains("\ngpufleet_daemon_devices_listed 4\n")
                        .contains("gpufleet_daemon_faults_open 1\n");
            }
        }
    }

    @Test
    void threadsThatReportGiveWayToThoseThatAnswerTheKubelet() throws IOException, InterruptedException {
        // Given: Kafka's clients exist once a broker listens
        try (var broker = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                var nvml = FakeNvml.install(root.resolve("driver"), 4);
                // When
                var daemon = new DaemonProcess(root, settings(nvml, "127.0.0.1:" + broker.getLocalPort()))) {
            // Then
            await().untilAsserted(() -> assertThat(niceByThread(daemon.pid()))
                    .containsEntry("event-publisher", 10)
                    .containsEntry("kafka-producer-", 10)
                    .containsEntry("verdicts", 10)
                    .containsEntry("node-loop", 0)
                    .containsEntry("nvml-events", 0));
        }
    }

    @Test
    void doctorNamesTheSettingsOfAWrongDriverRoot() throws IOException {
        // Given
        Path wrong = Files.createDirectories(root.resolve("no-driver"));
        Path gpu = Files.createDirectories(root.resolve("sys/bus/pci/devices/0000:07:00.0"));
        Files.writeString(gpu.resolve("vendor"), "0x10de\n");
        Files.writeString(gpu.resolve("class"), "0x030200\n");
        Map<String, String> settings = Map.of(
                "GPUFLEET_NODE",
                "node-1",
                "GPUFLEET_KAFKA",
                "127.0.0.1:1",
                "GPUFLEET_DEVICES",
                "nvml",
                "GPUFLEET_DRIVER_ROOT",
                wrong.toString(),
                "GPUFLEET_SYS_DIR",
                root.resolve("sys").toString(),
                "GPUFLEET_DEVICE_PLUGIN_DIR",
                root.resolve("plugins").toString(),
                "GPUFLEET_POD_RESOURCES_SOCKET",
                root.resolve("pods.sock").toString());

        try (var daemon = new DaemonProcess(root, settings)) {
            await().until(() -> daemon.page("/livez").startsWith("200"));

            // When
            String report = daemon.command("doctor");

            // Then
            assertThat(report)
                    .startsWith("1 ")
                    .containsPattern("FAIL +NVML library +no libnvidia-ml.so.1 below " + wrong)
                    .contains("NVML library: set GPUFLEET_DRIVER_ROOT to its directory on the host,");
        }
    }

    private static FakeNvml partitioned(FakeNvml nvml) {
        return nvml.gpu(1, "migMode", 1).mig(1, 0, "3g.40gb", 1).mig(1, 1, "3g.40gb", 2);
    }

    /** Nice value by the first 15 characters of a thread's name, as proc(5) has them. */
    private static Map<String, Integer> niceByThread(long pid) throws IOException {
        Map<String, Integer> nices = new TreeMap<>();
        try (Stream<Path> threads = Files.list(Path.of("/proc/" + pid + "/task"))) {
            for (Path thread : threads.toList()) {
                try {
                    String stat = Files.readString(thread.resolve("stat"));
                    String name = stat.substring(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
                    // The 19th field; the third follows the name.
                    String nice = stat.substring(stat.lastIndexOf(')') + 2).split(" ")[16];
                    nices.put(name, Integer.parseInt(nice));
                } catch (IOException _) {
                    // The thread has ended since it was listed: no such file, or no such process.
                }
            }
        }
        return nices;
    }

    private Map<String, String> settings(FakeNvml nvml) {
        return settings(nvml, "127.0.0.1:1");
    }

    private Map<String, String> settings(FakeNvml nvml, String kafka) {
        return Map.of(
                "MIG_STRATEGY", "mixed",
                "GPUFLEET_NODE", "node-1",
                "GPUFLEET_KAFKA", kafka,
                "GPUFLEET_DEVICES", "nvml",
                "GPUFLEET_NVML_LIBRARY", nvml.library().toString(),
                // On a loaded machine a call of the library that does not hang takes some 100 ms.
                "GPUFLEET_NVML_DEADLINE", "2s",
                "GPUFLEET_TELEMETRY_INTERVAL", "200ms",
                "GPUFLEET_DEVICE_PLUGIN_DIR", root.resolve("plugins").toString(),
                "GPUFLEET_POD_RESOURCES_SOCKET", root.resolve("pods.sock").toString());
    }
}
