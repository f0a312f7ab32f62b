package io.gpufleet.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.cli.GpufleetCommand;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BenchCommandTest {
    private final StringWriter errors = new StringWriter();

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "fold --events 0                     | --events 0 is not usable: it takes 1 or more",
                "reads --nodes -5                    | --nodes -5 is not usable: it takes 1 or more",
                "allocation --pods -1                | --pods -1 is not usable: it takes 1 or more",
                "daemon --json /nowhere/figures.json | --json '/nowhere/figures.json' is not usable: it takes a file in a",
                "fleet --fault 3                     | did you mean --faults",
                "health --nodes 499                  | --nodes 499 is not usable: it takes 500 or more",
                "health --nodes 500 --backlog 499    | --backlog 499 is not usable: it takes an event or more",
                "health --rate -1                    | --rate -1 is not usable: it takes 1 or more",
                "health --kubeconfig /nowhere/config | kubeconfig '/nowhere/config' cannot be read",
                "lightning                           | 'lightning' is no benchmark; there is fleet",
                "fold --events many                  | 'many' is no whole number",
            })
    void badInputIsOneLineBeforeAnythingIsStarted(String arguments, String message) {
        int status = GpufleetCommand.commandLine(new BenchCommand())
                .setErr(new PrintWriter(errors, true))
                .execute(arguments.split(" "));

        assertThat(status).isEqualTo(2);
        assertThat(errors.toString().strip())
                .startsWith("gpufleet: ")
                .contains(message)
                .doesNotContain("\n");
    }
}
