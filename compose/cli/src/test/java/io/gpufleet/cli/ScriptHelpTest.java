package io.gpufleet.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.testbed.testkit.Repository;
import java.io.IOException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The commands that the script {@code gpufleet} carries out itself have the help of the manual. */
class ScriptHelpTest {
    @ParameterizedTest
    @CsvSource({"build, -h", "images, --help", "policy, -h", "run, --help", "test, -h"})
    void helpOfACommandIsItsPartOfTheManual(String command, String option) throws IOException, InterruptedException {
        Process script = new ProcessBuilder(
                        Repository.root().resolve("gpufleet").toString(), command, option)
                .redirectErrorStream(true)
                .start();
        String output = script.inputReader().readAllAsString();

        assertThat(script.waitFor()).as(output).isZero();
        assertThat(output).startsWith("    " + command).doesNotContain("SYNOPSIS", "\n    events");
        assertThat(output.lines().filter(line -> line.matches(" {4}\\S.*"))).allMatch(line -> line.contains(command));
    }
}
