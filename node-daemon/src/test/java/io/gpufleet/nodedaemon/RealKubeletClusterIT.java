package io.gpufleet.nodedaemon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.testbed.testkit.FakeForeignPlugin;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The daemon with a real kubelet, restarted in any order. */
class RealKubeletClusterIT {
    private static final Logger LOG = LoggerFactory.getLogger(RealKubeletClusterIT.class);
    private static final Duration TIMEOUT = Duration.ofSeconds(90);
    private static final Path PLUGINS = Path.of("/var/lib/kubelet/device-plugins");
    private static final String HOLDER = "gpufleet-it-holder";
    private static final String PROBE = "gpufleet-it-probe";

    @TempDir
    Path directory;

    private RealKubelet kubelet;

    @BeforeEach
    void open() {
        kubelet = RealKubelet.open();
    }

    @AfterEach
    void close() {
        kubelet.remove(HOLDER);
        kubelet.remove(PROBE);
        kubelet.close();
    }

    private DaemonProcess daemon(String transport) throws IOException {
        var settings = new HashMap<>(Map.of(
                "GPUFLEET_NODE",
                kubelet.node(),
                "GPUFLEET_KAFKA",
                "127.0.0.1:1",
                "GPUFLEET_KUBELET_REGISTRATION",
                transport));
        return new DaemonProcess(directory, settings);
    }

    private void awaitGpus(String gpus) {
        await().atMost(TIMEOUT).until(() -> kubelet.gpus().equals(gpus));
    }

    /** Waits until the kubelet has the devices, keeps them, and allocates them. */
    private void awaitDevicesBack(DaemonProcess daemon) {
        await().atMost(TIMEOUT)
                .untilAsserted(() -> assertThat(daemon.page("/readyz")).startsWith("200"));
        await().atMost(TIMEOUT)
                .during(Duration.ofSeconds(3))
                .until(() -> kubelet.gpus().equals("8 of 8"));
        kubelet.run(PROBE, 1, "echo devices=$NVIDIA_VISIBLE_DEVICES");
        await().atMost(TIMEOUT).until(() -> kubelet.state(PROBE).startsWith("Succeeded"));
        assertThat(kubelet.log(PROBE)).matches("devices=GPU-[0-9a-f-]{36}\\s*");
    }

    @ParameterizedTest
    @ValueSource(strings = {"device-plugins", "plugins-registry"})
    void devicesComeBackAfterEveryRestartAndRunningPodsAreUntouched(String transport) throws Exception {
        try (var daemon = daemon(transport)) {
            awaitDevicesBack(daemon);
            kubelet.run(HOLDER, 2, "while true; do sleep 1; done");
            await().atMost(TIMEOUT).until(() -> kubelet.state(HOLDER).startsWith("Running"));
            String running = kubelet.state(HOLDER);

            LOG.info("the kubelet alone");
            kubelet.stop();
            kubelet.start();
            awaitDevicesBack(daemon);

            LOG.info("the kubelet, then the daemon");
            kubelet.stop();
            kubelet.start();
            daemon.terminate();
            daemon.restart();
            awaitDevicesBack(daemon);

            LOG.info("the daemon, then the kubelet");
            daemon.kill();
            daemon.restart();
            kubelet.stop();
            kubelet.start();
            awaitDevicesBack(daemon);

            LOG.info("the kubelet while the daemon is down");
            daemon.terminate();
            kubelet.stop();
            kubelet.start();
            daemon.restart();
            awaitDevicesBack(daemon);

            LOG.info("both at once");
            kubelet.stop();
            daemon.kill();
            daemon.restart();
            kubelet.start();
            awaitDevicesBack(daemon);

            assertThat(kubelet.state(HOLDER)).isEqualTo(running);
            assertThat(daemon.errors()).isEmpty();
        }
        awaitGpus("0 of 8");
    }

    @Test
    void rollingUpdateInterruptsTheServiceBriefly() throws Exception {
        try (var daemon = daemon("device-plugins")) {
            awaitDevicesBack(daemon);
            kubelet.run(HOLDER, 1, "while true; do sleep 1; done");
            await().atMost(TIMEOUT).until(() -> kubelet.state(HOLDER).startsWith("Running"));
            String running = kubelet.state(HOLDER);

            // When another process follows with the same state directory
            long terminated = System.nanoTime();
            daemon.terminate();
            long ended = System.nanoTime();
            daemon.restart();
            await().atMost(TIMEOUT)
                    .pollInterval(Duration.ofMillis(10))
                    .until(() -> daemon.log().contains("registered with the kubelet"));
            long streamed = System.nanoTime();
            awaitGpus("8 of 8");

            // Then the durations are logged, and the pod is unaffected
            LOG.atInfo()
                    .addKeyValue(
                            "endMillis", Duration.ofNanos(ended - terminated).toMillis())
                    .addKeyValue(
                            "startToStreamMillis",
                            Duration.ofNanos(streamed - ended).toMillis())
                    .log("rolling update");
            awaitDevicesBack(daemon);
            assertThat(kubelet.state(HOLDER)).isEqualTo(running);
        }
    }

    @Test
    void pluginThatRegistersLaterServesTheNodeUntilItEnds() throws Exception {
        try (var daemon = daemon("device-plugins")) {
            awaitDevicesBack(daemon);

            try (var _ = FakeForeignPlugin.register(PLUGINS, "nvidia.com/gpu", 3)) {
                await().atMost(TIMEOUT).until(() -> daemon.log().contains("superseded by another device plugin"));
                awaitGpus("3 of 3");

                // When our own list changes meanwhile
                daemon.fault(0, 79);
                await().atMost(TIMEOUT).until(() -> daemon.page("/metrics").contains("fault=\"xid-79\"} 1"));

                // Then the other plugin's list stays, and pods get its devices
                await().atMost(TIMEOUT)
                        .during(Duration.ofSeconds(3))
                        .until(() -> kubelet.gpus().equals("3 of 3"));
                kubelet.run(PROBE, 1, "echo devices=$NVIDIA_VISIBLE_DEVICES");
                await().atMost(TIMEOUT).until(() -> kubelet.state(PROBE).startsWith("Succeeded"));
                assertThat(kubelet.log(PROBE)).matches("devices=GPU-0000000\\d\\s*");
            }

            awaitGpus("7 of 8");
            assertThat(daemon.errors()).isEmpty();
        }
    }

    @Test
    void nodeMovesFromAnotherPluginToTheDaemonAndBackWhileItsPodRuns() throws Exception {
        try (var before = FakeForeignPlugin.register(PLUGINS, "nvidia.com/gpu", 3)) {
            // Given a pod that the other plugin served
            awaitGpus("3 of 3");
            kubelet.run(HOLDER, 2, "while true; do sleep 1; done");
            await().atMost(TIMEOUT).until(() -> kubelet.state(HOLDER).startsWith("Running"));
            String running = kubelet.state(HOLDER);

            // When the daemon starts beside it, the other plugin goes on serving
            try (var daemon = daemon("device-plugins")) {
                await().atMost(TIMEOUT).until(() -> daemon.log().contains("deferred to another device plugin"));
                assertThat(kubelet.gpus()).isEqualTo("3 of 3");

                // When the other ends, the daemon serves
                before.close();
                awaitDevicesBack(daemon);
                assertThat(kubelet.state(HOLDER)).isEqualTo(running);

                // and back
                try (var _ = FakeForeignPlugin.register(PLUGINS, "nvidia.com/gpu", 3)) {
                    awaitGpus("3 of 3");
                }
                awaitDevicesBack(daemon);
                assertThat(kubelet.state(HOLDER)).isEqualTo(running);
                assertThat(daemon.errors()).isEmpty();
            }
        }
    }

    @Test
    void holdWithdrawsAllDevicesAndItsEndRestoresThem() throws Exception {
        try (var daemon = daemon("device-plugins")) {
            awaitDevicesBack(daemon);
            Path run = directory.resolve("run");

            Files.writeString(run.resolve("hold"), "reason: reset\ndeadline: 10m\n");

            awaitGpus("0 of 8");
            assertThat(run.resolve("released")).exists();

            Files.delete(run.resolve("hold"));

            awaitDevicesBack(daemon);
        }
    }
}
