package io.gpufleet.cli.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FleetStateTest {
    @TempDir
    Path directory;

    @Test
    void writtenStateIsRead() {
        // Given
        FleetState state = state(new ProcessIdentity(1, 2));
        Path file = directory.resolve("deep").resolve("state.json");
        // When
        state.write(file);
        // Then
        assertThat(FleetState.read(file)).contains(state);
        assertThat(state.process("kafka")).isPresent();
        assertThat(state.node("node-1")).isPresent();
        assertThat(state.node("node-2")).isEmpty();
    }

    @Test
    void missingFileIsNoFleet() {
        assertThat(FleetState.read(directory.resolve("state.json"))).isEmpty();
    }

    @Test
    void malformedFileNamesTheRemedy() throws IOException {
        // Given
        Path file = Files.writeString(directory.resolve("state.json"), "{");
        // When Then
        assertThatThrownBy(() -> FleetState.read(file))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessageContaining("down --clean");
    }

    @Test
    void fleetIsAliveWhileOneOfItsProcessesRuns() {
        assertThat(state(ProcessIdentity.of(ProcessHandle.current())).alive()).isTrue();
        assertThat(state(new ProcessIdentity(ProcessHandle.current().pid(), 1)).alive())
                .as("the same process id, another start time")
                .isFalse();
    }

    private static FleetState state(ProcessIdentity identity) {
        return new FleetState(
                "2026-01-01T00:00:00Z",
                1.5,
                null,
                "127.0.0.1:1",
                new FleetState.KubernetesEndpoint("http://127.0.0.1:2", "/k", true),
                List.of(new FleetState.FleetProcess(
                        "kafka", "KAFKA", identity, "/log", List.of("java"), Map.of("A", "b"), Map.of("kafka", 1))),
                List.of(new FleetState.FleetNode("node-1", 8, "H100", "/s", "/f", "http://127.0.0.1:3/metrics")));
    }
}
