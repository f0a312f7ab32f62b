package io.gpufleet.health.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.health.model.drain.DrainMode;
import io.gpufleet.health.model.drain.DrainSettings;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.fault.FaultReport;
import io.gpufleet.health.model.fault.RecommendedAction;
import io.gpufleet.health.model.fault.RecoveryAction;
import io.gpufleet.health.model.maintenance.MaintenanceWindow;
import io.gpufleet.health.model.maintenance.MaintenanceWindows;
import io.gpufleet.health.model.policy.FaultClass;
import io.gpufleet.health.model.policy.FaultRule;
import io.gpufleet.health.model.policy.HealthPolicy;
import io.gpufleet.health.model.policy.NodeAction;
import io.gpufleet.health.model.remediation.RemediationSettings;
import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.model.fault.FaultKind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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
        "54, TAINT_HARDWARE, SUPPORT",
        "63, SUSPECT, NONE",
        "74, WITHDRAW, SUPPORT",
        "79, TAINT_REBOOT, REBOOT",
        "94, SUSPECT, RESTART_APP",
        "95, WITHDRAW, RESET_GPU",
        "109, WITHDRAW, RESET_GPU",
        "119, WITHDRAW, RESET_GPU",
        "142, WITHDRAW, SUPPORT",
        "151, TAINT_REBOOT, REBOOT",
        "154, IGNORE, NONE",
        "162, IGNORE, NONE",
        "999, SUSPECT, SUPPORT"
    })
    void xidHasTheFaultClassOfItsImmediateAction(int xid, FaultClass faultClass, RecommendedAction action) {
        FaultRule rule = nvidia.rule(FaultCode.xid(xid), FaultReport.of(RecoveryAction.NONE));

        assertThat(rule.faultClass()).isEqualTo(faultClass);
        assertThat(rule.recommendedAction()).isEqualTo(action);
    }

    @Test
    void recoveryActionRaisesTheFaultClass() {
        assertThat(nvidia.rule(FaultCode.xid(154), FaultReport.of(RecoveryAction.NODE_REBOOT))
                        .faultClass())
                .isEqualTo(FaultClass.TAINT_REBOOT);
        assertThat(nvidia.rule(FaultCode.of(FaultKind.RECOVERY_ACTION), FaultReport.of(RecoveryAction.GPU_RESET))
                        .faultClass())
                .isEqualTo(FaultClass.WITHDRAW);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "class: withdraw| class: withdrawn| class=withdrawn takes one of ignore",
                "recommendedAction: reset-gpu| recommendedAction: reset| recommendedAction=reset takes one of none",
                "63: {class| abc: {class| xids.abc takes a code",
                "recoveryDwell: PT0S| recoveryDwell: 5m| recoveryDwell=5m takes an ISO 8601 duration",
                "  RESET_GPU: {| #RESET_GPU: {| immediateActions takes a rule for RESET_GPU",
                "  gpu-lost: {| #gpu-lost: {| has no rule for kind gpu-lost",
                "kinds:| sorts:| sorts takes one of"
            })
    void mistakeIsReportedWithItsPlace(String right, String mistake, String answer) throws IOException {
        String text = pack().replaceFirst(Pattern.quote(right.strip()), Matcher.quoteReplacement(mistake.strip()));

        assertThatThrownBy(() -> PolicyFile.parse("mine.yaml", text))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("policy mine.yaml")
                .hasMessageContaining(answer.strip())
                .hasMessageNotContaining("\n");
    }

    @Test
    void malformedYamlIsReportedInOneLine() {
        assertThatThrownBy(() -> PolicyFile.parse("mine.yaml", "a: [b"))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("is not YAML")
                .hasMessageNotContaining("\n");
        assertThatThrownBy(() -> PolicyFile.parse("mine.yaml", "plain text"))
                .isInstanceOf(ConfigurationException.class);
        assertThatThrownBy(() -> PolicyFile.parse("mine.yaml", "!!javax.script.ScriptEngineManager []"))
                .isInstanceOf(ConfigurationException.class);
    }

    @Test
    void missingPolicyIsNamed() {
        assertThatThrownBy(() -> PolicyFile.load("nvidea"))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("GPUFLEET_POLICY='nvidea'");
    }

    private static String pack() throws IOException {
        try (var pack = PolicyFile.class.getResourceAsStream("/io/gpufleet/health/policy/nvidia.yaml")) {
            assertThat(pack).isNotNull();
            return new String(Objects.requireNonNull(pack).readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void rulesDrainNothingUnlessTheySaySo() {
        HealthPolicy policy = PolicyFile.parse("mine", """
                policy: mine
                extends: nvidia
                drain: {notice: PT10M, then: delete, namespaces: ["team-*"]}
                xids: {79: {class: taint-reboot, recommendedAction: reboot, drain: gpu-pods}}
                """);

        assertThat(Objects.requireNonNull(policy.codes().get(FaultCode.xid(79))).drain())
                .isEqualTo(DrainMode.GPU_PODS);
        assertThat(policy.codes().values().stream().filter(rule -> rule.drain() != DrainMode.NONE))
                .hasSize(1);
        assertThat(policy.drain().onDeadline()).isEqualTo(DrainSettings.OnDeadline.DELETE);
        assertThat(policy.drain().mayEvictFrom("team-a")).isTrue();
        assertThat(policy.drain().mayEvictFrom("kube-system")).isFalse();
    }

    @Test
    void rulesTaintUnlessTheySayThatTheyCordon() {
        HealthPolicy policy = PolicyFile.parse("mine", """
                policy: mine
                extends: nvidia
                xids: {79: {class: taint-reboot, nodeAction: cordon}, 95: {class: taint-reboot, nodeAction: taint-and-cordon}}
                recoveryActions: {node-reboot: {class: taint-reboot, nodeAction: cordon}}
                """);

        assertThat(Objects.requireNonNull(policy.codes().get(FaultCode.xid(79))).nodeAction())
                .isEqualTo(NodeAction.CORDON);
        assertThat(Objects.requireNonNull(policy.codes().get(FaultCode.xid(95))).nodeAction())
                .isEqualTo(NodeAction.TAINT_AND_CORDON);
        assertThat(policy.kinds().values()).allMatch(rule -> rule.nodeAction() == NodeAction.TAINT);
        assertThatThrownBy(() -> PolicyFile.parse(
                        "mine", "policy: mine\nextends: nvidia\nxids: {79: {class: taint-reboot, nodeAction: drain}}"))
                .isInstanceOf(ConfigurationException.class)
                .hasMessage("policy mine: xids.79.nodeAction=drain takes one of taint, cordon, taint-and-cordon");
    }

    @Test
    void aMistakeInTheDrainSectionIsOneLine() {
        for (String section : List.of(
                "{then: kill}",
                "{nodes: 0}",
                "{notice: 5m}",
                "{notice: PT2H}",
                "{pods: 3}",
                "{namespaces: team}",
                "yes")) {
            assertThatThrownBy(() -> PolicyFile.parse("mine", "policy: mine\nextends: nvidia\ndrain: " + section))
                    .isInstanceOf(ConfigurationException.class)
                    .hasMessageStartingWith("policy mine: drain")
                    .message()
                    .doesNotContain("\n");
        }
    }

    @Test
    void executorsAreAskedForNothingUnlessThePolicySaysSo() {
        HealthPolicy silent = PolicyFile.parse("mine", "policy: mine\nextends: nvidia\n");
        HealthPolicy asking = PolicyFile.parse("mine", """
                policy: mine
                extends: nvidia
                remediation: {actions: [reset-gpu, validate], deadline: PT20M, nodes: 2, windows: ["Sat 02:00-06:00 UTC"]}
                """);

        assertThat(silent.remediation().actions()).isEmpty();
        assertThat(asking.remediation())
                .isEqualTo(new RemediationSettings(
                        Set.of(RecommendedAction.RESET_GPU, RecommendedAction.VALIDATE),
                        Duration.ofMinutes(20),
                        2,
                        new MaintenanceWindows(List.of(MaintenanceWindow.parse("Sat 02:00-06:00 UTC")))));
    }

    @Test
    void aMistakeInTheRemediationSectionIsOneLine() {
        for (String section : List.of(
                "reboot",
                "{action: reboot}",
                "{actions: reboot}",
                "{actions: [support]}",
                "{actions: [7]}",
                "{windows: Sat 02:00-06:00 UTC}",
                "{windows: []}",
                "{windows: [7]}",
                "{windows: [Sat 02:00-26:00 UTC]}",
                "{deadline: 5m}",
                "{deadline: PT0S}",
                "{deadline: P31D}",
                "{nodes: 0}",
                "{nodes: many}")) {
            assertThatThrownBy(() -> PolicyFile.parse("mine", "policy: mine\nextends: nvidia\nremediation: " + section))
                    .isInstanceOf(ConfigurationException.class)
                    .hasMessageStartingWith("policy mine: remediation")
                    .hasMessageNotContaining("\n");
        }
    }
}
