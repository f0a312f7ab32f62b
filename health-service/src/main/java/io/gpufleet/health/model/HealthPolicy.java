package io.gpufleet.health.model;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * A policy pack: what follows from which fault.
 *
 * @param name for example {@code nvidia}
 * @param codes rules for single XIDs and SXIDs
 * @param kinds a rule for every kind; that of XID and SXID holds for numbers without a rule of their own
 * @param actions what a recovery action that the driver asks for is worth, whatever the fault was
 * @param recoveryDwell how long a device stays on probation once its last fault is proven gone; zero: not at all,
 *     since a daemon proves it by a dwell of its own
 */
public record HealthPolicy(
        String name,
        Map<FaultCode, Rule> codes,
        Map<FaultKind, Rule> kinds,
        Map<RecoveryAction, Rule> actions,
        Duration recoveryDwell) {
    /** Refuses a policy with a hole. */
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

    /** What the policy says of a fault with which the driver asked for an action; the worse of the two. */
    public Rule rule(FaultCode code, RecoveryAction action) {
        Rule ofCode = Optional.ofNullable(codes.get(code)).orElseGet(() -> kind(code.kind()));
        return Optional.ofNullable(actions.get(action)).map(ofCode::orWorse).orElse(ofCode);
    }

    /** What the policy says of an episode. */
    public Rule rule(Episode episode) {
        return rule(episode.code(), episode.action());
    }

    private Rule kind(FaultKind kind) {
        return Optional.ofNullable(kinds.get(kind)).orElseThrow();
    }
}
