package io.gpufleet.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.cli.fleet.FleetState;
import io.gpufleet.cli.fleet.ProcessIdentity;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** Commands about a fleet whose nodes are planned and whose processes are not all started yet. */
class StartingFleetTest {
    private static final String WAIT = "the fleet is still starting";

    @TempDir
    private Path directory;

    private Path stateFile;
    private final StringWriter error = new StringWriter();

    @BeforeEach
    void onlyTheBrokerRuns() {
        stateFile = directory.resolve("state.json");
        new FleetState(
                        Instant.EPOCH.toString(),
                        0,
                        null,
                        "127.0.0.1:1",
                        new FleetState.KubernetesEndpoint("http://127.0.0.1:1", "", true),
                        List.of(new FleetState.FleetProcess(
                                "kafka",
                                "KAFKA",
                                ProcessIdentity.of(ProcessHandle.current()),
                                directory.resolve("broker.out").toString(),
                                List.of(),
                                Map.of(),
                                Map.of())),
                        List.of(new FleetState.FleetNode("node-1", 8, "H100", "", "", "http://127.0.0.1:1/metrics")))
                .write(stateFile);
    }

    @ParameterizedTest
    @ValueSource(strings = {"drill", "drill --list", "drill kill-node-1", "stop node-1", "start node-1", "up --detach"})
    void whatNeedsEveryPartSaysThatTheFleetStarts(String command) {
        assertThat(execute(command.split(" "))).isEqualTo(2);
        assertThat(error.toString()).contains(WAIT).doesNotContain("no part");
    }

    @Test
    void stateThatUpStillWritesIsNotReplaced() throws IOException {
        Object written = Files.getAttribute(stateFile, "unix:ino");

        execute("stop", "node-1");

        // A write renames a new file over it.
        assertThat(Files.getAttribute(stateFile, "unix:ino")).isEqualTo(written);
    }

    @Test
    void statusSaysThatTheFleetStarts() {
        assertThat(StatusReport.render(FleetState.read(stateFile).orElseThrow()))
                .contains(WAIT);
    }

    private int execute(String... command) {
        CommandLine commands = GpufleetCommand.commandLine().setErr(new PrintWriter(error, true));
        String[] all = new String[command.length + 2];
        System.arraycopy(command, 0, all, 0, command.length);
        all[command.length] = "--state";
        all[command.length + 1] = directory.toString();
        return commands.execute(all);
    }
}
