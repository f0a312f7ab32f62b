package io.gpufleet.nodedaemon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.testbed.kafka.FreePort;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands doctor and probe beside a daemon: the script of the package asks it, with no program but bash. */
class LiveDiagnosticsIT {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final Path SCRIPT = Path.of("src/main/package/ask-daemon");
    private static final int NO_DAEMON = 75;

    @TempDir
    private static Path directory;

    private static DaemonProcess daemon;

    private record Answer(int status, String text) {}

    @BeforeAll
    static void startDaemon() {
        daemon = new DaemonProcess(
                directory,
                Map.of(
                        "GPUFLEET_NODE",
                        "node-1",
                        "GPUFLEET_KAFKA",
                        "127.0.0.1:1",
                        "GPUFLEET_DEVICE_PLUGIN_DIR",
                        directory.resolve("kubelet").toString(),
                        "GPUFLEET_POD_RESOURCES_SOCKET",
                        directory.resolve("pod-resources.sock").toString()));
        await().atMost(TIMEOUT)
                .until(() -> ask(daemon.port(), "simulated:8xH100", "probe").status() == 0);
    }

    @AfterAll
    static void stopDaemon() {
        daemon.close();
    }

    /** Without a PATH no other program can be started, a second virtual machine least of all. */
    private static Answer ask(int port, String devices, String... arguments) throws IOException, InterruptedException {
        var command = new ArrayList<>(List.of("/bin/bash", SCRIPT.toString()));
        command.addAll(List.of(arguments));
        var builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().clear();
        builder.environment()
                .putAll(Map.of("PATH", "", "GPUFLEET_HTTP_PORT", Integer.toString(port), "GPUFLEET_DEVICES", devices));
        Process script = builder.start();
        String text = new String(script.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Answer(script.waitFor(), text);
    }

    @Test
    void doctorIsAnsweredByTheProcessThatRuns() throws IOException, InterruptedException {
        Answer table = ask(daemon.port(), "simulated:8xH100", "doctor");
        Answer json = ask(daemon.port(), "simulated:8xH100", "doctor", "--json");

        // Kafka does not respond, so a check fails.
        assertThat(table.status()).isEqualTo(1);
        assertThat(table.text())
                .contains("process " + daemon.pid() + " reports this", "8 x H100", "FAIL  Kafka")
                .contains("GPUFLEET_NODE=node-1");
        assertThat(json.status()).isEqualTo(1);
        assertThat(json.text()).startsWith("{").contains("process " + daemon.pid() + " reports this");
    }

    @Test
    void probeShowsTheDevicesOfTheProcessThatRuns() throws IOException, InterruptedException {
        Answer table = ask(daemon.port(), "simulated:8xH100", "probe");

        assertThat(table.status()).isZero();
        assertThat(table.text()).contains("8 GPUs, 0 lost", "nvidia.com/gpu");
    }

    @Test
    void callerLooksItselfWithoutADaemonOfItsDevices() throws IOException, InterruptedException {
        assertThat(ask(daemon.port(), "simulated:2xA100", "probe").status()).isEqualTo(NO_DAEMON);
        assertThat(ask(daemon.port(), "simulated:8xH100", "probe", "--help").status())
                .isEqualTo(NO_DAEMON);
        assertThat(ask(FreePort.next(), "simulated:8xH100", "doctor").status()).isEqualTo(NO_DAEMON);
    }
}
