package io.gpufleet.health.model.policy;

import io.gpufleet.health.model.drain.DrainMode;
import io.gpufleet.health.model.drain.DrainSettings;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.fault.RecommendedAction;
import io.gpufleet.health.model.fault.RecoveryAction;
import io.gpufleet.health.model.maintenance.MaintenanceWindows;
import io.gpufleet.health.model.remediation.RemediationSettings;
import io.gpufleet.model.fault.FaultKind;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Small policies for tests of the model, which reads no policy files. */
public final class TestPolicies {
    private TestPolicies() {}

    /** XID 13 is ignored, 63 and 92 suspect, 48 and 95 withdraw; 74, 79 and 54 taint: fabric, reboot, hardware. */
    public static HealthPolicy standard() {
        return withRecoveryDwell(Duration.ZERO);
    }

    /** The standard policy with a recovery dwell. */
    public static HealthPolicy withRecoveryDwell(Duration dwell) {
        Map<FaultCode, FaultRule> codes = Map.of(
                FaultCode.xid(13), rule("xid-13", FaultClass.IGNORE, RecommendedAction.RESTART_APP),
                FaultCode.xid(63), rule("xid-63", FaultClass.SUSPECT, RecommendedAction.NONE),
                FaultCode.xid(92), rule("xid-92", FaultClass.SUSPECT, RecommendedAction.NONE),
                FaultCode.xid(48), rule("xid-48", FaultClass.WITHDRAW, RecommendedAction.RESET_GPU),
                FaultCode.xid(95), rule("xid-95", FaultClass.WITHDRAW, RecommendedAction.RESET_GPU),
                FaultCode.xid(74), rule("xid-74", FaultClass.TAINT_FABRIC, RecommendedAction.SUPPORT),
                FaultCode.xid(79), rule("xid-79", FaultClass.TAINT_REBOOT, RecommendedAction.REBOOT),
                FaultCode.xid(54), rule("xid-54", FaultClass.TAINT_HARDWARE, RecommendedAction.SUPPORT));
        Map<FaultKind, FaultRule> kinds = Arrays.stream(FaultKind.values())
                .collect(Collectors.toMap(
                        Function.identity(),
                        kind -> rule(
                                FaultCode.of(kind).slug(),
                                kind == FaultKind.DRIVER ? FaultClass.TAINT_DRIVER : FaultClass.SUSPECT,
                                RecommendedAction.NONE)));
        Map<RecoveryAction, FaultRule> actions = Map.of(
                RecoveryAction.GPU_RESET, rule("gpu-reset", FaultClass.WITHDRAW, RecommendedAction.RESET_GPU),
                RecoveryAction.NODE_REBOOT, rule("node-reboot", FaultClass.TAINT_REBOOT, RecommendedAction.REBOOT));
        return new HealthPolicy("test", codes, kinds, actions, dwell, Escalation.DEFAULT);
    }

    /** The standard policy, of which every rule that withdraws drains. */
    public static HealthPolicy draining(DrainMode mode) {
        return draining(standard(), mode);
    }

    /** The policy, of which every rule that withdraws drains. */
    public static HealthPolicy draining(HealthPolicy policy, DrainMode mode) {
        return withRules(policy, (_, rule) -> draining(rule, mode));
    }

    /** The policy with other rules of its codes, and with the usual drains and remediations. */
    private static HealthPolicy withRules(HealthPolicy policy, BiFunction<FaultCode, FaultRule, FaultRule> change) {
        return new HealthPolicy(
                policy.name(),
                policy.codes().entrySet().stream()
                        .collect(Collectors.toMap(
                                Map.Entry::getKey, entry -> change.apply(entry.getKey(), entry.getValue()))),
                policy.kinds(),
                policy.actions(),
                policy.recoveryDwell(),
                policy.escalation());
    }

    /** The policy with settings of its drains and remediations. */
    public static HealthPolicy acting(HealthPolicy policy, DrainSettings drain, RemediationSettings remediation) {
        return new HealthPolicy(
                policy.name(),
                policy.codes(),
                policy.kinds(),
                policy.actions(),
                policy.recoveryDwell(),
                policy.escalation(),
                drain,
                remediation);
    }

    /** The standard policy, of which every rule that takes a node out of service does it so. */
    public static HealthPolicy with(NodeAction action) {
        return withRules(standard(), (_, rule) -> with(rule, action));
    }

    /** The policy, of which the rule of one code takes a node out of service so. */
    public static HealthPolicy with(HealthPolicy policy, FaultCode code, NodeAction action) {
        return withRules(policy, (each, rule) -> each.equals(code) ? with(rule, action) : rule);
    }

    private static FaultRule with(FaultRule rule, NodeAction action) {
        return new FaultRule(
                rule.name(), rule.faultClass(), rule.recommendedAction(), rule.timing(), rule.drain(), action);
    }

    /** The policy, which leaves these actions to executors. */
    public static HealthPolicy remediating(HealthPolicy policy, RecommendedAction... actions) {
        return acting(
                policy,
                policy.drain(),
                new RemediationSettings(Set.of(actions), Duration.ofMinutes(30), 1, MaintenanceWindows.ANY_TIME));
    }

    /** A policy that asks for boots in maintenance windows only. */
    public static HealthPolicy within(MaintenanceWindows windows, HealthPolicy policy) {
        RemediationSettings settings = policy.remediation();
        return acting(
                policy,
                policy.drain(),
                new RemediationSettings(settings.actions(), settings.deadline(), settings.nodes(), windows));
    }

    private static FaultRule draining(FaultRule rule, DrainMode mode) {
        return new FaultRule(rule.name(), rule.faultClass(), rule.recommendedAction(), rule.timing(), mode);
    }

    private static FaultRule rule(String name, FaultClass faultClass, RecommendedAction action) {
        return new FaultRule(name, faultClass, action);
    }
}
