package io.gpufleet.cli.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.kit.config.ConfigurationException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StateDirectoryTest {
    @TempDir
    Path directory;

    @Test
    void socketsAreInTemporaryDirectoryWhenTheirPathIsTooLong() {
        assertThat(new StateDirectory(Path.of("/short")).sockets()).isEqualTo(Path.of("/short/sockets"));
        assertThat(new StateDirectory(Path.of("/" + "long/".repeat(20)))
                        .sockets()
                        .toString())
                .hasSizeLessThan(40);
    }

    @Test
    void endedRunLeavesLogsOfProcessesAndBroker() throws IOException {
        // Given
        var state = new StateDirectory(directory.resolve("s"));
        Files.createDirectories(state.broker());
        Files.createDirectories(state.sockets());
        Files.createDirectories(state.log("kafka").getParent());
        Files.writeString(state.stateFile(), "{}");
        // When
        state.deleteRun();
        // Then
        assertThat(state.broker()).exists();
        assertThat(state.log("kafka").getParent()).exists();
        assertThat(state.stateFile()).doesNotExist();
        assertThat(state.sockets()).doesNotExist();
        // When
        state.deleteAll();
        // Then
        assertThat(state.root()).doesNotExist();
    }

    @Test
    void faultIsFilePresentUntilCleared() throws IOException {
        // Given
        var node = new FleetState.FleetNode("n", 8, "H100", "/s", directory.toString(), "");
        // When
        FaultFile.write(node, 3, 79);
        // Then
        assertThat(Files.readString(directory.resolve("3.xid"))).isEqualTo("79\n");
        assertThat(FaultFile.remove(node, 3)).isTrue();
        assertThat(FaultFile.remove(node, 3)).isFalse();
    }

    @Test
    void unknownGpuOrXidIsRefused() {
        var node = new FleetState.FleetNode("n", 8, "H100", "/s", directory.toString(), "");
        assertThatThrownBy(() -> FaultFile.write(node, 8, 79))
                .isInstanceOf(ConfigurationException.class)
                .hasMessage("GPU 8 is not there: n has 0 to 7");
        assertThatThrownBy(() -> FaultFile.write(node, 0, 0)).hasMessageContaining("XID 0 is not valid");
    }

    @Test
    void fullDiskIsRefusedBeforeAnythingIsStarted() {
        var directory = new StateDirectory(Path.of("/state"));

        assertThatThrownBy(() -> directory.requireSpace(2 << 20))
                .hasMessage(
                        "the state directory /state has 2 MiB left, a fleet takes 256 MiB or more: free some, or name"
                                + " another directory with --state");
        assertThatCode(() -> directory.requireSpace(1L << 40)).doesNotThrowAnyException();
    }
}
