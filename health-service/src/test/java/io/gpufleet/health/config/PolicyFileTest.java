package io.gpufleet.health.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.health.model.FaultClass;
import io.gpufleet.health.model.FaultCode;
import io.gpufleet.health.model.FaultKind;
import io.gpufleet.health.model.HealthPolicy;
import io.gpufleet.health.model.NextStep;
import io.gpufleet.health.model.RecoveryAction;
import io.gpufleet.health.model.Rule;
import io.gpufleet.kit.config.ConfigurationException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PolicyFileTest {
    private final HealthPolicy nvidia = PolicyFile.load("nvidia");

    @ParameterizedTest
    @CsvSource({
        "13, IGNORE, RESTART_APP",
        "43, IGNORE, NONE",
        "48, WITHDRAW, RESET_GPU",
        "54, MARK_HARDWARE, SUPPORT",
        "63, SUSPECT, NONE",
        "74, WITHDRAW, SUPPORT",
        "79, MARK_REBOOT, REBOOT",
        "94, SUSPECT, RESTART_APP",
        "95, WITHDRAW, RESET_GPU",
        "109, WITHDRAW, RESET_GPU",
        "119, WITHDRAW, RESET_GPU",
        "142, WITHDRAW, SUPPORT",
        "151, MARK_REBOOT, REBOOT",
        "154, IGNORE, NONE",
        "162, IGNORE, NONE",
        "999, SUSPECT, SUPPORT"
    })
    void anXidIsWorthWhatNvidiaSaysOfIt(int xid, FaultClass effect, NextStep step) {
        Rule rule = nvidia.rule(FaultCode.xid(xid), RecoveryAction.NONE);

        assertThat(rule.effect()).isEqualTo(effect);
        assertThat(rule.step()).isEqualTo(step);
    }

    @Test
    void whatTheDriverAsksForCounts() {
        assertThat(nvidia.rule(FaultCode.xid(154), RecoveryAction.NODE_REBOOT).effect())
                .isEqualTo(FaultClass.MARK_REBOOT);
        assertThat(nvidia.rule(FaultCode.of(FaultKind.RECOVERY_ACTION), RecoveryAction.GPU_RESET)
                        .effect())
                .isEqualTo(FaultClass.WITHDRAW);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "class: withdraw| class: withdrawn| class=withdrawn takes one of ignore",
                "step: reset-gpu| step: reset| step=reset takes one of none",
                "63: {class| abc: {class| xids.abc takes a code",
                "recoveryDwell: PT0S| recoveryDwell: 5m| recoveryDwell=5m takes an ISO 8601 duration",
                "  RESET_GPU: {| #RESET_GPU: {| immediateActions takes a rule for RESET_GPU",
                "  gpu-lost: {| #gpu-lost: {| has no rule for kind gpu-lost",
                "kinds:| sorts:| sorts takes one of"
            })
    void aMistakeIsAnsweredWithItsPlace(String right, String mistake, String answer) throws IOException {
        String text = pack().replaceFirst(
                        java.util.regex.Pattern.quote(right.strip()),
                        java.util.regex.Matcher.quoteReplacement(mistake.strip()));

        assertThatThrownBy(() -> PolicyFile.parse("mine.yaml", text))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("policy mine.yaml")
                .hasMessageContaining(answer.strip())
                .hasMessageNotContaining("\n");
    }

    @Test
    void whatIsNoYamlIsSaidInOneLine() {
        assertThatThrownBy(() -> PolicyFile.parse("mine.yaml", "a: [b"))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("is not YAML")
                .hasMessageNotContaining("\n");
        assertThatThrownBy(() -> PolicyFile.parse("mine.yaml", "just a word"))
                .isInstanceOf(ConfigurationException.class);
        assertThatThrownBy(() -> PolicyFile.parse("mine.yaml", "!!javax.script.ScriptEngineManager []"))
                .isInstanceOf(ConfigurationException.class);
    }

    @Test
    void aPolicyThatIsNotThereIsNamed() {
        assertThatThrownBy(() -> PolicyFile.load("nvidea"))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("GPUFLEET_POLICY='nvidea'");
    }

    private static String pack() throws IOException {
        try (var pack = PolicyFile.class.getResourceAsStream("/io/gpufleet/health/policy/nvidia.yaml")) {
            assertThat(pack).isNotNull();
            return new String(java.util.Objects.requireNonNull(pack).readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
