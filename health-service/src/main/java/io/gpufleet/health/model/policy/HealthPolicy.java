package io.gpufleet.health.model.policy;

import io.gpufleet.health.model.drain.DrainSettings;
import io.gpufleet.health.model.fault.Episode;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.fault.FaultReport;
import io.gpufleet.health.model.fault.RecommendedAction;
import io.gpufleet.health.model.fault.RecoveryAction;
import io.gpufleet.health.model.fault.RepairHistory;
import io.gpufleet.health.model.remediation.RemediationSettings;
import io.gpufleet.model.fault.FaultKind;
import java.time.Duration;
import java.util.HashMap;
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
 * @param escalation what is recommended for a fault that comes back
 * @param drain how nodes are drained, where a rule says that they are
 * @param remediation what executors are asked for; nothing by default
 */
public record HealthPolicy(
        String name,
        Map<FaultCode, FaultRule> codes,
        Map<FaultKind, FaultRule> kinds,
        Map<RecoveryAction, FaultRule> actions,
        Duration recoveryDwell,
        Escalation escalation,
        DrainSettings drain,
        RemediationSettings remediation) {
    /** As of every time of a rule. */
    private static final Duration LONGEST = Duration.ofDays(30);

    /** A policy that drains as usual, where a rule says so, and asks no executor for anything. */
    public HealthPolicy(
            String name,
            Map<FaultCode, FaultRule> codes,
            Map<FaultKind, FaultRule> kinds,
            Map<RecoveryAction, FaultRule> actions,
            Duration recoveryDwell,
            Escalation escalation) {
        this(
                name,
                codes,
                kinds,
                actions,
                recoveryDwell,
                escalation,
                DrainSettings.DEFAULT,
                RemediationSettings.DEFAULT);
    }

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
        if (recoveryDwell.isNegative() || recoveryDwell.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException("recoveryDwell takes PT0S to P30D, not " + recoveryDwell);
        }
    }

    /**
     * The more severe of the fault's rule and the recovery action's rule. What the daemon did about the fault counts: a device
     * that it withdrew is withdrawn, and one that it kept since it knows better is kept.
     */
    public FaultRule rule(FaultCode code, FaultReport report) {
        FaultRule ofCode = ofCode(code).agreedWith(report.withdrawal());
        return Optional.ofNullable(actions.get(report.action()))
                .map(ofCode::orWorse)
                .orElse(ofCode);
    }

    /** The rule that applies to an episode now; a recovery action that the driver requests is never held off. */
    public FaultRule rule(Episode episode) {
        FaultRule agreed = ofCode(episode.code()).agreedWith(episode.report().withdrawal());
        FaultRule rule = episode.restraint().any() ? agreed.restrained() : agreed;
        return Optional.ofNullable(actions.get(episode.action()))
                .map(rule::orWorse)
                .orElse(rule);
    }

    /**
     * The rule of an open fault after what was tried before. Once a GPU that was only withdrawn needs a boot, it needs the whole
     * node, which is tainted for it.
     */
    public FaultRule rule(Episode episode, RepairHistory history) {
        FaultRule rule = rule(episode);
        RecommendedAction next = recommendedAction(episode, history);
        return next != rule.recommendedAction() && next.boots() ? rule.forBoot() : rule;
    }

    /** When the rule of a fault acts. */
    public RuleTiming timing(FaultCode code) {
        return ofCode(code).timing();
    }

    /** True when observations of the fault have to be remembered. */
    public boolean countsObservations(FaultCode code) {
        return timing(code).countsObservations();
    }

    /** Recommended action for an open fault, given the repair history. */
    public RecommendedAction recommendedAction(Episode episode, RepairHistory history) {
        return escalation.next(rule(episode).recommendedAction(), history, episode.since());
    }

    /** How long a device stays out of service after its last fault was cleared; by the reason of the fault. */
    public Duration recoveryDwell(String reason) {
        return recoveryDwells().getOrDefault(reason, recoveryDwell);
    }

    /** The same for the reasons that have a time of their own, few; of several rules with one reason the longest. */
    public Map<String, Duration> recoveryDwells() {
        Map<String, Duration> dwells = new HashMap<>();
        codes.forEach((code, rule) -> dwell(dwells, code, rule));
        kinds.forEach((kind, rule) -> dwell(dwells, FaultCode.of(kind), rule));
        return dwells;
    }

    private static void dwell(Map<String, Duration> dwells, FaultCode code, FaultRule rule) {
        Duration own = rule.timing().recoveryDwell();
        if (!own.isZero()) {
            dwells.merge(code.reason(), own, (one, other) -> one.compareTo(other) > 0 ? one : other);
        }
    }

    /** A recovery action that is known rates the fault by which the driver requests it; the fault itself is suspect. */
    private FaultRule ofCode(FaultCode code) {
        if (code.requestedAction() != RecoveryAction.UNSPECIFIED) {
            return Optional.ofNullable(actions.get(code.requestedAction()))
                    .map(rule -> new FaultRule(kind(code.kind()).name(), FaultClass.SUSPECT, rule.recommendedAction()))
                    .orElseGet(() -> kind(code.kind()));
        }
        return Optional.ofNullable(codes.get(code)).orElseGet(() -> kind(code.kind()));
    }

    private FaultRule kind(FaultKind kind) {
        return Optional.ofNullable(kinds.get(kind)).orElseThrow();
    }
}
