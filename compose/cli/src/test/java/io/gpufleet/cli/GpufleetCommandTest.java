package io.gpufleet.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpufleet.cli.fleet.FleetState;
import io.gpufleet.cli.fleet.ProcessIdentity;
import io.gpufleet.kit.lifecycle.BuildInfo;
import io.gpufleet.testbed.testkit.Repository;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.ConnectException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class GpufleetCommandTest {
    @TempDir
    Path state;

    private final StringWriter errors = new StringWriter();

    @Test
    void commandsThatNeedFleetNameTheStartCommand() {
        for (String verb : List.of(
                "fault n 0 79",
                "clear n 0",
                "kubeconfig",
                "logs kafka",
                "status",
                "events",
                "drill",
                "freeze --reason a")) {
            assertThat(run(verb)).as(verb).isEqualTo(2);
            assertThat(errors.toString()).contains("no fleet runs here; './gpufleet up' starts one");
        }
    }

    @Test
    void sizesOutOfBoundsAreReportedInOneLine() {
        assertThat(run("up --kubeconfig= --nodes 999")).isEqualTo(2);
        assertThat(errors.toString().strip()).isEqualTo("gpufleet: --nodes 999 is not usable: it takes 0 to 200");
    }

    @Test
    void versionIsThatOfTheBuild() {
        var output = new StringWriter();

        int status = GpufleetCommand.commandLine()
                .setOut(new PrintWriter(output, true))
                .execute("--version");

        assertThat(status).isZero();
        assertThat(output.toString().strip()).isEqualTo("gpufleet " + BuildInfo.current());
    }

    @Test
    void manualNamesEveryCommand() throws IOException {
        String manual = Files.readString(Repository.root().resolve("gpufleet"));

        GpufleetCommand.commandLine().getSubcommands().forEach((name, command) -> {
            assertThat(manual).containsPattern("(?m)^ {4}(.*, )?" + name + "\\b");
            command.getSubcommands()
                    .keySet()
                    .forEach(nested ->
                            assertThat(manual).containsPattern("(?m)^ {4}(.*, )?" + name + " " + nested + "\\b"));
        });
    }

    @Test
    void wrongOptionsAreReportedInOneLineWithTheHelpOfTheCommand() {
        assertLine("up --nodes many", "'many' is no whole number", "'./gpufleet up --help'");
        assertLine("fault n 3 99999999999", "'99999999999' is no whole number up to", "'./gpufleet fault --help'");
        assertLine("up --node 3", "'--node'", "did you mean --nodes", "'./gpufleet up --help'");
        assertLine("pod create", "--gpus=N", "NAMESPACE/NAME", "'./gpufleet pod create --help'");
        assertLine("down now", "'now'", "'./gpufleet down --help'");
    }

    @Test
    void timesAndReasonsThatNobodyTakesAreReportedInOneLine() {
        assertLine("events --since -5", "--since -5 is not usable: it takes 0 to");
        assertLine("events --since 9223372036854775807", "--since 9223372036854775807 is not usable");
        assertLine(
                "up --kubeconfig= --recovery-dwell soon", "--recovery-dwell='soon' is not usable: it takes a duration");
        assertLine("freeze --reason=", "--reason '' is not usable: it takes one line of 1 to 512 characters");
        assertLine("freeze --reason=" + "x".repeat(513), "is not usable: it takes one line of 1 to 512 characters");
    }

    @Test
    void stateDirectoryThatIsNotThereIsNamed() {
        assertLine("status --state /nowhere/state", "there is no state directory /nowhere/state");
        assertLine("fault n 0 79 --state /nowhere/state", "there is no state directory /nowhere/state");
    }

    @Test
    void apiOrBrokerThatIsAwayIsReportedInOneLine() {
        var refused = new IOException(new ConnectException("Connection refused"));
        assertFailure(new KubernetesClientException("Operation: [get] failed.", refused), "Connection refused");
        assertFailure(
                new KubernetesClientException("Operation: [get] failed.", new ClosedChannelException()), "Closed");
        assertFailure(
                new TimeoutException("Timeout of 10000ms expired"), "Kafka does not answer", "Timeout of 10000ms");
    }

    private void assertFailure(RuntimeException failure, String... parts) {
        @CommandLine.Command(name = "failing")
        final class Failing implements Runnable {
            @Override
            public void run() {
                throw failure;
            }
        }
        errors.getBuffer().setLength(0);

        int status = GpufleetCommand.commandLine(new Failing())
                .setErr(new PrintWriter(errors, true))
                .execute();

        assertThat(status).isEqualTo(1);
        assertThat(errors.toString().strip())
                .startsWith("gpufleet: ")
                .contains(parts)
                .contains("./gpufleet status")
                .doesNotContain("\n");
    }

    @Test
    void commandOfAnOperatorTakesAReason() {
        for (String line : List.of("freeze", "unfreeze", "forget node-1", "maintenance begin node-1")) {
            assertThat(run(line)).as(line).isEqualTo(2);
            assertThat(errors.toString()).contains("--reason=TEXT");
        }
        assertThat(run("maintenance pause node-1 --reason fan")).isEqualTo(2);
        assertThat(errors.toString()).contains("expected one of [BEGIN, END]");
    }

    @Test
    void replayOfDeadLettersNamesThem() {
        assertThat(run("deadletter replay --dry-run --kafka 127.0.0.1:1")).isEqualTo(2);
        assertThat(errors.toString().strip())
                .startsWith("gpufleet: deadletter replay names no dead letter: --topic")
                .doesNotContain("\n");
        assertLine("deadletter replay --topic helth --kafka 127.0.0.1:1", "'helth' is no topic; there are", "health");
    }

    @Test
    void deadLettersOfAKafkaThatIsNoneAreRefusedInOneLine() {
        for (String command : List.of("deadletter show", "deadletter replay --all")) {
            assertThat(run(command + " --kafka nonsense")).as(command).isEqualTo(2);
            assertThat(errors.toString().strip())
                    .startsWith("gpufleet: 'nonsense' is no Kafka server")
                    .doesNotContain("\n");
        }
    }

    @Test
    void missingKubeconfigIsNamed() {
        assertThat(run("up --kubeconfig /nowhere/config")).isEqualTo(2);
        assertThat(errors.toString()).contains("kubeconfig '/nowhere/config' cannot be read");
    }

    @Test
    void whatCannotBeReachedOrReadIsReportedInOneLine() throws IOException {
        assertThat(run("topics apply --kafka nonsense")).isEqualTo(1);
        assertThat(errors.toString().strip())
                .startsWith("gpufleet: GPUFLEET_KAFKA: 'nonsense' is no Kafka server")
                .doesNotContain("\n");

        Path file = Files.writeString(state.resolve("no-kubeconfig"), "x\n");
        assertThat(run("up --kubeconfig " + file)).isEqualTo(2);
        assertThat(errors.toString().strip())
                .startsWith("gpufleet: '" + file + "' is no kubeconfig")
                .doesNotContain("\n");

        assertThat(run("up --kubeconfig= --state /proc/nope")).isEqualTo(2);
        assertThat(errors.toString().strip())
                .startsWith("gpufleet: the state directory /proc/nope cannot be used")
                .doesNotContain("\n");
    }

    @Test
    void replicationOutOfBoundsIsReportedInOneLine() {
        assertThat(run("topics apply --kafka 127.0.0.1:1 --replication 0")).isEqualTo(2);
        assertThat(errors.toString().strip()).isEqualTo("gpufleet: --replication '0' is not usable: it takes 1 to 9");
    }

    @Test
    void unknownTopicIsReportedWithTheKnownOnes() {
        assertThat(run("events helth")).isEqualTo(2);
        assertThat(errors.toString()).contains("'helth' is no topic").contains("health");
    }

    @Test
    void jsonStatusHasTheFourKeys() throws JsonProcessingException {
        // Given
        var fleet = new FleetState(
                "2026-01-01T00:00:00Z",
                1.5,
                null,
                "127.0.0.1:9",
                new FleetState.KubernetesEndpoint("http://127.0.0.1:8", "/k", true),
                List.of(new FleetState.FleetProcess(
                        "health-service-0",
                        "HEALTH",
                        new ProcessIdentity(1, 1),
                        "/log",
                        List.of(),
                        Map.of(),
                        Map.of("http", 1, "grpc", 2))),
                List.of(new FleetState.FleetNode(
                        "node-1", 8, "H100", "/s/node-1", "/f", "http://127.0.0.1:3/metrics")));
        // When
        JsonNode json = new ObjectMapper().readTree(StatusCommand.json(fleet));
        // Then
        assertThat(json.at("/kafka/bootstrap").asText()).isEqualTo("127.0.0.1:9");
        assertThat(json.at("/kubernetes/kubeconfig").asText()).isEqualTo("/k");
        assertThat(json.at("/services/health-service-0/http").asText()).isEqualTo("http://127.0.0.1:1");
        assertThat(json.at("/services/health-service-0/grpc").asText()).isEqualTo("127.0.0.1:2");
        assertThat(json.at("/nodes/0/name").asText()).isEqualTo("node-1");
        assertThat(json.at("/nodes/0/gpus").asInt()).isEqualTo(8);
        assertThat(json.at("/nodes/0/socketDirectory").asText()).isEqualTo("/s/node-1");
        assertThat(json.at("/nodes/0/metrics").asText()).isEqualTo("http://127.0.0.1:3/metrics");
    }

    /** The command is not possible, and says so in one line with these parts. */
    private void assertLine(String line, String... parts) {
        assertThat(run(line)).as(line).isEqualTo(2);
        assertThat(errors.toString().strip())
                .startsWith("gpufleet: ")
                .contains(parts)
                .doesNotContain("\n");
    }

    private int run(String line) {
        errors.getBuffer().setLength(0);
        CommandLine commandLine = GpufleetCommand.commandLine().setErr(new PrintWriter(errors, true));
        var arguments = new java.util.ArrayList<>(List.of(line.split(" ")));
        if (!arguments.contains("--state")) {
            arguments.addAll(List.of("--state", state.toString()));
        }
        return commandLine.execute(arguments.toArray(String[]::new));
    }
}
