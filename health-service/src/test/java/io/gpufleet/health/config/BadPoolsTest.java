package io.gpufleet.health.config;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.health.model.budget.Mode;
import io.gpufleet.kit.config.ConfigurationException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A bad file of pools is one line with its source and what would be right. */
class BadPoolsTest {
    private static void refused(String text, String answer) {
        assertThatThrownBy(() -> PoolsFile.parse(Mode.OBSERVE, "mine.yaml", text))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageStartingWith("pools mine.yaml")
                .hasMessageContaining(answer)
                .hasMessageNotContaining("\n");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "percent: 0        | brake takes percent 1 to 100",
                "percent: 101      | brake takes percent 1 to 100",
                "atLeast: -1       | atLeast from 1",
                "within: -PT5M     | not 5, 10 and PT-5M",
                "within: PT0S      | not 5, 10 and PT0S",
                "within: P400D     | at most P30D",
                "within: PT2562047788015215H | at most P30D",
                "within: P99999999999999999999D | ISO 8601 duration",
            })
    void brakeIsRefused(String mistake, String answer) {
        refused("brake: {" + mistake + "}", answer);
    }

    /** Without what follows, the limits of the file would be silently gone. */
    @ParameterizedTest
    @ValueSource(strings = {"pools", "limits", "zone", "fleet", "brake"})
    void halfWrittenFileIsRefused(String section) {
        refused(section + ":\n", section + " takes a ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "pools", "- a", "5"})
    void fileWithoutAMappingIsRefused(String text) {
        refused(text, "the file takes a mapping");
    }

    @Test
    void halfWrittenLimitIsRefused() {
        refused("fleet: {nodes: }\n", "fleet.nodes takes a mapping");
        refused("pools: [{name: a, selector: {b: c}, limits: }]\n", "pools.a.limits takes a mapping");
        refused("fleet: {nodes: {percent: }}\n", "fleet.nodes.percent=null takes a whole number");
    }

    @Test
    void sameKeyTwiceIsRefused() {
        refused("fleet: {nodes: {percent: 5}}\nfleet: {nodes: {percent: 50}}\n", "is not YAML");
    }

    @Test
    void poolsThatShareANameAreRefused() {
        refused(
                "pools: [{name: a, selector: {b: c}}, {name: a, selector: {d: e}}]\n",
                "pools.a takes a name of its own");
        refused("pools: [{name: default, selector: {b: c}}]\n", "pools.default takes a name of its own");
    }

    @Test
    void yamlBombIsRefused() {
        refused(YamlBomb.TEXT, "is not YAML");
        refused("pools: " + "[".repeat(10_000), "is not YAML");
    }

    @Test
    void fileThatIsTooLargeIsRefused(@TempDir Path folder) throws IOException {
        Path file = Files.writeString(folder.resolve("large.yaml"), "#".repeat(300 * 1024));

        assertThatThrownBy(() -> PoolsFile.text("GPUFLEET_POOLS", file.toString()))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("GPUFLEET_POOLS='" + file + "' is longer than 256 KiB")
                .hasMessageNotContaining("\n");
    }
}
