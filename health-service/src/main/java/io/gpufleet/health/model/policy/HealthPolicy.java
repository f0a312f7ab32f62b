package io.gpufleet.health.model.policy;

import io.gpufleet.health.model.fault.Episode;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.fault.FaultKind;
import io.gpufleet.health.model.fault.RecoveryAction;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * A policy pack: which rule applies to which fault.
 *
 * @param name for example {@code nvidia}
 * @param codes rules for single XIDs and SXIDs
 * @param kinds a rule for every kind; those of XID and SXID apply to numbers without a rule of their own
 * @param actions rules by the recovery action that the driver requests, whatever the fault is
 * @param recoveryDwell how long a device stays out of service after its last fault is cleared; zero by default, since
 *     the daemon waits for a dwell of its own before it clears a fault
 */
public record HealthPolicy(
        String name,
        Map<FaultCode, FaultRule> codes,
        Map<FaultKind, FaultRule> kinds,
        Map<RecoveryAction, FaultRule> actions,
        Duration recoveryDwell) {
    /** Rejects a policy without a rule for every kind. */
    public HealthPolicy {
        codes = Map.copyOf(codes);
        kinds = Map.copyOf(kinds);
        actions = Map.copyOf(actions);
        for (FaultKind kind : FaultKind.values()) {
            if (!kinds.containsKey(kind)) {
                throw new IllegalArgumentException("policy " + name + " has no rule for kind "
                        + FaultCode.of(kind).slug());
            }
        }
        if (recoveryDwell.isNegative()) {
            throw new IllegalArgumentException("policy " + name + " has a negative recovery dwell");
        }
    }

    /** The more severe of the fault's rule and the recovery action's rule. */
    public FaultRule rule(FaultCode code, RecoveryAction action) {
        FaultRule ofCode = Optional.ofNullable(codes.get(code)).orElseGet(() -> kind(code.kind()));
        return Optional.ofNullable(actions.get(action)).map(ofCode::orWorse).orElse(ofCode);
    }

    /** The rule that applies to an episode. */
    public FaultRule rule(Episode episode) {
        return rule(episode.code(), episode.action());
    }

    private FaultRule kind(FaultKind kind) {
        return Optional.ofNullable(kinds.get(kind)).orElseThrow();
    }
}
