package io.gpufleet.nodedaemon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.nodedaemon.nvml.FakeNvml;
import io.gpufleet.testbed.fakekubelet.AdvertisedResource;
import io.gpufleet.testbed.fakekubelet.FakeKubelet;
import io.gpufleet.testbed.testkit.SocketDirectory;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The daemon releases the driver down to the last descriptor, and reacquires it. */
class DaemonHoldIT {
    private static final String GPUS = "nvidia.com/gpu";
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    @TempDir
    Path directory;

    private static int allocatable(FakeKubelet kubelet) {
        return kubelet.resource(GPUS).map(AdvertisedResource::allocatable).orElse(-1);
    }

    private static int capacity(FakeKubelet kubelet) {
        return kubelet.resource(GPUS).map(AdvertisedResource::capacity).orElse(-1);
    }

    /** Open files of a process, from procfs. */
    private static List<String> descriptors(long pid) throws IOException {
        var targets = new ArrayList<String>();
        try (var links = Files.newDirectoryStream(Path.of("/proc", Long.toString(pid), "fd"))) {
            for (Path link : links) {
                try {
                    targets.add(Files.readSymbolicLink(link).toString());
                } catch (IOException closedMeanwhile) {
                    targets.add("");
                }
            }
        }
        return targets;
    }

    @Test
    void holdClosesEveryDescriptorAndItsEndRestoresAllDevices() throws Exception {
        Path sockets = SocketDirectory.create();
        Path run = directory.resolve("run");
        var vertx = Vertx.vertx();
        try (var nvml = FakeNvml.install(directory.resolve("driver"), 2);
                var kubelet = FakeKubelet.start(vertx, sockets);
                var daemon = new DaemonProcess(
                        directory,
                        Map.of(
                                "GPUFLEET_NODE", "n-1",
                                "GPUFLEET_KAFKA", "127.0.0.1:1",
                                "GPUFLEET_DEVICES", "nvml",
                                "GPUFLEET_SIMULATION_DIR", "",
                                "GPUFLEET_DRIVER_ROOT", nvml.driverRoot().toString(),
                                "GPUFLEET_DEVICE_PLUGIN_DIR",
                                        kubelet.devicePluginDirectory().toString(),
                                "GPUFLEET_POD_RESOURCES_SOCKET",
                                        kubelet.podResourcesSocket().toString()))) {
            // Given a daemon with two GPUs
            await().atMost(TIMEOUT).until(() -> allocatable(kubelet) == 2);
            String node = nvml.library().resolveSibling("nvidiactl").toString();
            assertThat(descriptors(daemon.pid())).contains(node);

            // When their release is requested
            Path next = Files.writeString(run.resolve("next"), "reason: driver upgrade\ndeadline: 1h\n");
            Files.move(next, run.resolve("hold"));

            // Then nothing is open, every device is Unhealthy, and the release is confirmed
            await().atMost(TIMEOUT).until(() -> Files.exists(run.resolve("released")));
            assertThat(descriptors(daemon.pid())).doesNotContain(node);
            assertThat(nvml.counter("openSessions")).isZero();
            assertThat(nvml.counter("eventSets")).isZero();
            await().atMost(TIMEOUT).until(() -> allocatable(kubelet) == 0);
            assertThat(capacity(kubelet)).isEqualTo(2);
            assertThat(run.resolve("released")).content().contains("reason: driver upgrade");

            // And a daemon started meanwhile opens nothing
            int inits = nvml.counter("initCalls");
            daemon.kill();
            daemon.restart();
            await().atMost(TIMEOUT).until(() -> kubelet.registrations(GPUS) == 2);
            await().atMost(TIMEOUT).until(() -> Files.exists(run.resolve("released")));
            assertThat(nvml.counter("initCalls")).isEqualTo(inits);
            assertThat(allocatable(kubelet)).isZero();

            // When the driver was upgraded and the request is removed
            nvml.upgrade("575.57.08");
            Files.delete(run.resolve("hold"));

            // Then all devices are back without a restart, and the confirmation is removed
            await().atMost(TIMEOUT).until(() -> allocatable(kubelet) == 2);
            await().atMost(TIMEOUT).until(() -> !Files.exists(run.resolve("released")));
            await().atMost(TIMEOUT).until(() -> daemon.log().contains("driver=575.57.08"));
            assertThat(daemon.errors()).isEmpty();

            // When a request is never removed
            Files.writeString(run.resolve("next"), "deadline: 2s");
            Files.move(run.resolve("next"), run.resolve("hold"));

            // Then its deadline ends it
            await().atMost(TIMEOUT).until(() -> daemon.log().contains("deadline of the hold file has passed"));
            await().atMost(TIMEOUT).until(() -> !Files.exists(run.resolve("released")));
            await().atMost(TIMEOUT).until(() -> allocatable(kubelet) == 2);
            assertThat(run.resolve("hold")).exists();

            // And the daemon terminates normally
            assertThat(daemon.terminate()).isZero();
            assertThat(kubelet.devicePluginDirectory()).isDirectoryNotContaining("glob:**gpufleet-*.sock");
        } finally {
            vertx.close();
        }
    }
}
