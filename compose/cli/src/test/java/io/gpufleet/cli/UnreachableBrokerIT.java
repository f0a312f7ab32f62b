package io.gpufleet.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.cli.fleet.FleetState;
import io.gpufleet.cli.fleet.ProcessIdentity;
import io.gpufleet.testbed.kafka.FreePort;
import io.gpufleet.testbed.testkit.CommandOutput;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/**
 * Commands whose Kafka is gone, as processes with all that they print. Each waits ten seconds for an answer, so all of them run
 * at once.
 */
class UnreachableBrokerIT {
    private static final List<String> OF_THE_FLEET =
            List.of("events", "events health", "deadletter show", "deadletter replay --all");
    private static final List<String> THAT_MAKE_TOPICS = List.of("topics apply", "topics apply --prefix other.");
    private static final int PORT = FreePort.next();

    @TempDir
    static Path state;

    private static final ExecutorService WAITING = Executors.newVirtualThreadPerTaskExecutor();
    private static Map<String, CompletableFuture<CommandOutput>> outputs = Map.of();

    @BeforeAll
    static void runAll() {
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
                        "127.0.0.1:" + PORT,
                        new FleetState.KubernetesEndpoint("http://127.0.0.1:1", "/kubeconfig", true),
                        List.of(part),
                        List.of())
                .write(state.resolve("state.json"));
        outputs = Stream.concat(OF_THE_FLEET.stream(), THAT_MAKE_TOPICS.stream())
                .collect(Collectors.toMap(
                        Function.identity(),
                        command -> CompletableFuture.supplyAsync(
                                () -> run(command
                                        + (OF_THE_FLEET.contains(command)
                                                ? " --state " + state
                                                : " --kafka 127.0.0.1:" + PORT)),
                                WAITING)));
    }

    @AfterAll
    static void close() {
        WAITING.close();
    }

    @ParameterizedTest
    @FieldSource("OF_THE_FLEET")
    void commandThatReadsTheBusOfTheFleetSaysSoInOneLine(String command) {
        assertOneLine(command, "Kafka does not answer", "'./gpufleet status'");
    }

    @ParameterizedTest
    @FieldSource("THAT_MAKE_TOPICS")
    void commandThatMakesTopicsSaysSoInOneLine(String command) {
        assertOneLine(command, "Kafka", "127.0.0.1:" + PORT);
    }

    private static void assertOneLine(String command, String... parts) {
        CommandOutput output = Objects.requireNonNull(outputs.get(command)).join();

        assertThat(output.status()).as(output.text()).isEqualTo(1);
        assertThat(output.text().strip())
                .startsWith("gpufleet: ")
                .contains(parts)
                .doesNotContain("\n");
    }

    private static CommandOutput run(String arguments) {
        try {
            return CommandProcess.run(Map.of(), List.of(arguments.split(" ")));
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(interrupted);
        }
    }
}
