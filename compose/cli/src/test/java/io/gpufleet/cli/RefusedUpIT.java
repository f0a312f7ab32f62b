package io.gpufleet.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.testbed.testkit.CommandOutput;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** An {@code up} with an option that nobody takes, as a process: it ends before anything is started. */
class RefusedUpIT {
    @TempDir
    private Path directory;

    @ParameterizedTest
    @CsvSource({
        "--model, FOO, 'cannot be simulated: it takes V100, T4'",
        "--nodes, 999, 'it takes 0 to 200'",
        "--recovery-dwell, soon, 'it takes a duration'"
    })
    void upWithAnOptionThatNobodyTakesStartsNothing(String option, String value, String remedy)
            throws IOException, InterruptedException {
        Path state = directory.resolve("state");

        CommandOutput output = CommandProcess.run(
                Map.of(), List.of("up", "--kubeconfig=", option, value, "--state", state.toString()));

        assertThat(output.status()).isEqualTo(2);
        assertThat(output.text().strip())
                .startsWith("gpufleet: " + option)
                .contains(value, remedy)
                .doesNotContain("\n");
        // Whatever is started has its log there.
        assertThat(state).doesNotExist();
    }
}
