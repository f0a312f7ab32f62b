package io.gpufleet.health.config;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.kit.config.ConfigurationException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A bad policy is one line with its source and what would be right. */
class BadPolicyTest {
    private static void refused(String text, String answer) {
        assertThatThrownBy(() -> PolicyFile.parse("mine.yaml", text))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageStartingWith("policy mine.yaml")
                .hasMessageContaining(answer)
                .hasMessageNotContaining("\n");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "class: suspect, colour: red                                           | colour takes",
                "recommendedAction: reboot                                             | class=null takes one of",
                "class: withdraw, threshold: {count: 3, of: 2, within: PT1M}           | not 3 of 2",
                "class: withdraw, threshold: {count: 0, of: 2, within: PT1M}           | not 0 of 2",
                "class: withdraw, threshold: {count: 2, of: 1000, within: PT1M}        | not 2 of 1000",
                "class: withdraw, threshold: {count: 2, of: 3}                         | takes count and of",
                "class: withdraw, threshold: {count: 2, of: 3, within: PT0S}           | one second for each",
                "class: withdraw, grace: -PT1S                                         | not PT-1S",
                "class: withdraw, bootGrace: P400D                                     | not PT9600H",
                "class: withdraw, recoveryDwell: 5m                                    | ISO 8601 duration",
            })
    void ruleIsRefused(String rule, String answer) {
        refused(PolicyTexts.text("nvidia").replace("nvlink: {class: suspect}", "nvlink: {" + rule + "}"), answer);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{action: reboot}, {action: reset-gpu} | each is more severe",
                "{action: reboot}, {action: reboot}    | each is more severe",
                "{action: reboot, attempts: 0}         | 1 to 100 attempts",
                "{action: dance}                       | escalation.steps.action=dance takes one of",
                "                                      | 1 to 100 attempts",
            })
    void escalationIsRefused(String steps, String answer) {
        String own = "policy: mine\nextends: nvidia\nescalation: {within: P7D, steps: [" + (steps == null ? "" : steps)
                + "]}\n";

        refused(own, answer);
    }

    /** A time after the end of the calendar would end the fold of every fault that recovers. */
    @ParameterizedTest
    @ValueSource(strings = {"-PT1S", "P31D", "PT2562047788015215H"})
    void recoveryDwellThatNoNodeSeesTheEndOfIsRefused(String dwell) {
        refused("policy: mine\nextends: nvidia\nrecoveryDwell: " + dwell + "\n", "recoveryDwell takes PT0S to P30D");
    }

    @Test
    void missingRuleIsRefused() {
        refused(PolicyTexts.text("nvidia").replaceFirst("(?m)^  gpu-lost:.*$", ""), "has no rule for kind gpu-lost");
    }

    @Test
    void packThatExtendsItselfIsRefused() {
        refused("policy: nvidia\nextends: nvidia\n", "extends=nvidia takes another pack");
        refused("policy: mine\nextends: yours\n", "extends=yours takes another pack");
    }

    @Test
    void halfWrittenFileIsRefused() {
        String text = PolicyTexts.text("nvidia");

        refused(text.substring(0, text.indexOf("kinds:")), "kinds takes a mapping");
        refused(text.substring(0, text.indexOf("xids:") + 20), "policy mine.yaml");
        refused("", "not a YAML mapping");
    }

    @Test
    void packWithoutANameIsRefused() {
        refused("extends: nvidia\npolicy:\n", "policy takes the name of this pack");
    }

    @Test
    void sameKeyTwiceIsRefused() {
        refused("policy: a\npolicy: b\n", "is not YAML");
    }

    @Test
    void yamlBombIsRefused() {
        refused(YamlBomb.TEXT, "is not YAML");
        refused("policy: " + "[".repeat(10_000), "is not YAML");
    }

    @Test
    void fileThatIsTooLargeIsRefused(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("large.yaml");
        Files.writeString(file, "#".repeat(300 * 1024));

        assertThatThrownBy(() -> PolicyFile.load(file.toString()))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("is longer than 256 KiB");
    }
}
