package io.gpufleet.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.cli.fleet.FleetState;
import io.gpufleet.cli.fleet.ProcessIdentity;
import io.gpufleet.testbed.kafka.FreePort;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Commands that read the bus of a fleet whose broker is gone, as processes with all that they print. */
class UnreachableBrokerIT {
    @TempDir
    private Path state;

    @ParameterizedTest
    @ValueSource(strings = {"events", "events health", "deadletter show", "deadletter replay --all"})
    void commandThatReadsTheBusOfTheFleetSaysSoInOneLine(String command) throws IOException, InterruptedException {
        // Given
        int port = FreePort.next();
        var part = new FleetState.FleetProcess(
                "health-service-0",
                "HEALTH",
                ProcessIdentity.of(ProcessHandle.current()),
                "/log",
                List.of(),
                Map.of(),
                Map.of());
        new FleetState(
                        "2026-01-01T00:00:00Z",
                        1,
                        null,
                        "127.0.0.1:" + port,
                        new FleetState.KubernetesEndpoint("http://127.0.0.1:1", "/kubeconfig", true),
                        List.of(part),
                        List.of())
                .write(state.resolve("state.json"));

        assertOneLine(command + " --state " + state, "Kafka does not answer", "'./gpufleet status'");
    }

    @ParameterizedTest
    @ValueSource(strings = {"topics apply", "topics apply --prefix other."})
    void commandThatMakesTopicsSaysSoInOneLine(String command) throws IOException, InterruptedException {
        int port = FreePort.next();

        assertOneLine(command + " --kafka 127.0.0.1:" + port, "Kafka", "127.0.0.1:" + port);
    }

    private static void assertOneLine(String arguments, String... parts) throws IOException, InterruptedException {
        // The flags of the script ./gpufleet that decide what is printed.
        var command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-DGPUFLEET_LOG_LEVEL=ERROR",
                "-cp",
                System.getProperty("java.class.path"),
                "io.gpufleet.cli.GpufleetMain"));
        command.addAll(List.of(arguments.split(" ")));
        var builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().keySet().removeIf(name -> name.startsWith("GPUFLEET_"));
        Process process = builder.start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertThat(process.waitFor()).as(said).isEqualTo(1);
        assertThat(said.strip()).startsWith("gpufleet: ").contains(parts).doesNotContain("\n");
    }
}
