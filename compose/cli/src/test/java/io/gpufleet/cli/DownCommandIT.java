package io.gpufleet.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.cli.fleet.FleetState;
import io.gpufleet.cli.fleet.ProcessIdentity;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code down} does with the process of an {@code up} in the foreground. */
class DownCommandIT {
    @TempDir
    private Path state;

    @Test
    void downEndsTheUpOfTheForeground() throws IOException, InterruptedException {
        // Given a fleet without parts, whose 'up' is another process
        Process up = new ProcessBuilder("sleep", "600").start();
        try {
            new FleetState(
                            Instant.EPOCH.toString(),
                            1,
                            ProcessIdentity.of(up.toHandle()),
                            "127.0.0.1:1",
                            new FleetState.KubernetesEndpoint("http://127.0.0.1:1", "", true),
                            List.of(),
                            List.of())
                    .write(state.resolve("state.json"));

            // When
            int code = GpufleetCommand.commandLine().execute("down", "--state", state.toString());

            // Then
            assertThat(code).isZero();
            assertThat(up.waitFor(30, TimeUnit.SECONDS)).as("up ended").isTrue();
        } finally {
            up.destroyForcibly();
        }
    }
}
