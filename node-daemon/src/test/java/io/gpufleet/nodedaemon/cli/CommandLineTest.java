package io.gpufleet.nodedaemon.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.kit.config.Setting;
import io.gpufleet.nodedaemon.config.DaemonConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The command line and the manual pages. */
class CommandLineTest {
    @Test
    void noCommandMeansRun() {
        CommandLine line = CommandLine.parse();

        assertThat(line.command()).isEqualTo(DaemonCommand.RUN);
        assertThat(line.help()).isFalse();
    }

    @Test
    void optionsMayFollowTheCommandAnywhereAndTakeTheirValueBothWays() {
        CommandLine line = CommandLine.parse("record", "--for", "30s", "gpus.jsonl", "--every=1s", "--anonymous");

        assertThat(line.command()).isEqualTo(DaemonCommand.RECORD);
        assertThat(line.operand()).isEqualTo("gpus.jsonl");
        assertThat(line.value("--for", "10m")).isEqualTo("30s");
        assertThat(line.value("--every", "5s")).isEqualTo("1s");
        assertThat(line.has("--anonymous")).isTrue();
        assertThat(line.has("--json")).isFalse();
    }

    @Test
    void versionIsAskedForWithoutACommand() {
        assertThat(CommandLine.parse("--version").has("--version")).isTrue();
        assertThat(CommandLine.parse("run", "--version").has("--version")).isTrue();
        assertThatThrownBy(() -> CommandLine.parse("doctor", "--version"))
                .hasMessageContaining("--version is not an option of doctor");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '%',
            value = {
                "porbe | 'porbe' is not a command; did you mean probe? 'node-daemon --help' lists all",
                "--json | --json is not an option of run; did you mean --help? 'node-daemon run --help' lists all",
                "probe --jsno | --jsno is not an option of probe; did you mean --json? 'node-daemon probe --help' lists all",
                "probe --json=yes | --json takes no value; remove '=yes'",
                "doctor twice | 'twice' is an unexpected argument of doctor; see 'node-daemon doctor --help'",
                "record | record requires a FILE; for example 'node-daemon record gpus.jsonl'",
                "record f --for | --for requires a value: duration, for example 30s, 10m or 1h [10m]"
            })
    void invalidArgumentIsRejectedInOneLineWithTheClosestValidOne(String arguments, String message) {
        assertThatThrownBy(() -> CommandLine.parse(arguments.split(" ")))
                .isInstanceOf(ConfigurationException.class)
                .hasMessage(message);
    }

    @ParameterizedTest
    @EnumSource(DaemonCommand.class)
    void eachCommandHasAPageWithItsOptionsAndExitStatus(DaemonCommand command) {
        String page = ManualRenderer.page(CommandLine.parse(command.commandName(), "--help"));

        assertThat(page)
                .startsWith("NAME\n    node-daemon " + command.commandName() + " - ")
                .containsSubsequence(
                        "\nSYNOPSIS\n", "\nDESCRIPTION\n", "\nOPTIONS\n", "\nENVIRONMENT\n", "\nEXIT STATUS\n");
        command.options().forEach(option -> assertThat(page).contains(option.name()));
        assertThat(page.lines()).allMatch(line -> line.length() <= 90 && line.equals(line.stripTrailing()));
    }

    @Test
    void pageOfTheProgramListsCommandsFilesExamplesAndEverySetting() {
        String page = ManualRenderer.page(CommandLine.parse("--help"));

        assertThat(page)
                .containsSubsequence("\nCOMMANDS\n", "\nENVIRONMENT\n", "\nFILES\n", "\nEXIT STATUS\n", "\nEXAMPLES\n");
        for (DaemonCommand command : DaemonCommand.values()) {
            assertThat(page).contains("\n    " + command.commandName() + " ");
        }
        for (Setting setting : DaemonConfig.SETTINGS) {
            assertThat(page).contains("\n    " + setting.name());
            assertThat(page.replaceAll("\\s+", " ")).contains(setting.description(), setting.defaultValue());
        }
        assertThat(page).contains("GPUFLEET_CLUSTER (required)", "GPUFLEET_HTTP_PORT [9400]");
    }
}
