package io.gpufleet.health.model;

import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Small policies for tests of the model, which reads no files. */
public final class Policies {
    private Policies() {}

    /** 13 is ignored, 63 suspicious, 48 withdraws, 74 marks for its fabric, 79 for a reboot, 54 for its hardware. */
    public static HealthPolicy standard() {
        return with(Duration.ZERO);
    }

    /** The same with a dwell. */
    public static HealthPolicy with(Duration dwell) {
        Map<FaultCode, Rule> codes = Map.of(
                FaultCode.xid(13), rule("xid-13", FaultClass.IGNORE, NextStep.RESTART_APP),
                FaultCode.xid(63), rule("xid-63", FaultClass.SUSPECT, NextStep.NONE),
                FaultCode.xid(92), rule("xid-92", FaultClass.SUSPECT, NextStep.NONE),
                FaultCode.xid(48), rule("xid-48", FaultClass.WITHDRAW, NextStep.RESET_GPU),
                FaultCode.xid(95), rule("xid-95", FaultClass.WITHDRAW, NextStep.RESET_GPU),
                FaultCode.xid(74), rule("xid-74", FaultClass.MARK_FABRIC, NextStep.SUPPORT),
                FaultCode.xid(79), rule("xid-79", FaultClass.MARK_REBOOT, NextStep.REBOOT),
                FaultCode.xid(54), rule("xid-54", FaultClass.MARK_HARDWARE, NextStep.SUPPORT));
        Map<FaultKind, Rule> kinds = Arrays.stream(FaultKind.values())
                .collect(Collectors.toMap(
                        Function.identity(),
                        kind -> rule(
                                FaultCode.of(kind).slug(),
                                kind == FaultKind.DRIVER ? FaultClass.MARK_DRIVER : FaultClass.SUSPECT,
                                NextStep.NONE)));
        Map<RecoveryAction, Rule> actions = Map.of(
                RecoveryAction.GPU_RESET, rule("gpu-reset", FaultClass.WITHDRAW, NextStep.RESET_GPU),
                RecoveryAction.NODE_REBOOT, rule("node-reboot", FaultClass.MARK_REBOOT, NextStep.REBOOT));
        return new HealthPolicy("test", codes, kinds, actions, dwell);
    }

    private static Rule rule(String name, FaultClass effect, NextStep step) {
        return new Rule(name, effect, step);
    }
}
