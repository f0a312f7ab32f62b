package io.gpufleet.allocation.model.quota;

import io.gpufleet.allocation.model.scheduling.GpuAmount;
import io.gpufleet.allocation.model.scheduling.GpuPod;
import io.gpufleet.allocation.model.scheduling.PodGpuRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Decides on pods by the quotas of a {@link QuotaState}, and computes the status of a quota; changes nothing. */
public final class QuotaEvaluator {
    private static final int ESCROW_BLOCK = 64;
    private static final int LOW_WATER = 16;

    private QuotaEvaluator() {}

    /**
     * Result for one request.
     *
     * @param reservation what the admitted pod reserves; empty for a denial, a dry run, a pod that no quota covers and one
     *     that is known already
     */
    public record Evaluation(AdmissionDecision decision, Optional<CountedPod> reservation) {
        private static Evaluation of(AdmissionDecision decision) {
            return new Evaluation(decision, Optional.empty());
        }
    }

    /** Decides on one request at a monotonic time. Costs as much as the quotas of its namespace have limits. */
    public static Evaluation evaluate(QuotaState state, AdmissionRequest request, long nanos) {
        return switch (PodGpuRequest.of(request.pod().containers(), state.resources())) {
            case PodGpuRequest.Invalid(String message) -> Evaluation.of(new AdmissionDecision.Denied(message));
            case PodGpuRequest.Devices(var devices) ->
                devices.isEmpty() || state.knows(request.pod().uid())
                        ? Evaluation.of(AdmissionDecision.Admitted.WITHOUT_WARNINGS)
                        : evaluate(state, request, state.demandFor(request.pod().constraints(), devices), nanos);
        };
    }

    private static Evaluation evaluate(QuotaState state, AdmissionRequest request, GpuDemand demand, long nanos) {
        GpuPod pod = request.pod();
        List<GpuQuota> quotas = state.covering(pod.namespace());
        var requested = new Requested(pod.namespace(), demand, state.reservationOfSameName(pod));
        List<String> warnings = new ArrayList<>();
        for (GpuQuota quota : quotas) {
            List<String> violations = violations(state, quota, requested);
            if (!violations.isEmpty() && quota.mode() == GpuQuota.Mode.ENFORCE) {
                return Evaluation.of(new AdmissionDecision.Denied(violations.getFirst()));
            }
            warnings.addAll(violations);
        }
        AdmissionDecision decision = warnings.isEmpty()
                ? AdmissionDecision.Admitted.WITHOUT_WARNINGS
                : new AdmissionDecision.Admitted(List.copyOf(warnings));
        boolean reserves = !quotas.isEmpty() && !request.dryRun();
        return new Evaluation(
                decision, reserves ? Optional.of(new CountedPod(pod, demand, true, nanos)) : Optional.empty());
    }

    /** Requested amount; a reservation for the same name is free, since only one of the two can become a pod. */
    private record Requested(String namespace, GpuDemand demand, Optional<CountedPod> sameName) {
        GpuAmount free(QuotaLimit limit) {
            return sameName.map(pod -> pod.demand().on(limit)).orElse(GpuAmount.ZERO);
        }
    }

    private static List<String> violations(QuotaState state, GpuQuota quota, Requested requested) {
        if (quota.ambiguousModel() == GpuQuota.AmbiguousModel.DENY
                && quota.limits().stream().anyMatch(requested.demand()::isAmbiguousOn)) {
            return List.of(DenialMessages.ambiguousModel(quota, requested.demand()));
        }
        List<String> violations = new ArrayList<>();
        for (QuotaLimit limit : quota.limits()) {
            GpuAmount amount = requested.demand().on(limit);
            GpuAmount after =
                    state.used(quota, limit).minus(requested.free(limit)).plus(amount);
            if (!amount.isZero() && after.compareTo(GpuAmount.of(limit.max())) > 0) {
                violations.add(DenialMessages.overLimit(
                        quota, limit, state.usage(quota, limit), requested.demand(), requested.namespace()));
            }
        }
        return violations;
    }

    /** Escrow, by limit, without which the last admitted pod of a namespace may not be answered. */
    public static Map<LimitKey, Integer> requiredEscrow(QuotaState state, String namespace) {
        Map<LimitKey, Integer> required = new TreeMap<>();
        for (GpuQuota quota : state.covering(namespace)) {
            if (quota.mode() == GpuQuota.Mode.ENFORCE) {
                for (QuotaLimit limit : quota.limits()) {
                    required.put(
                            new LimitKey(quota.name(), limit.id()),
                            Math.min(limit.max(), state.used(quota, limit).roundedUp()));
                }
            }
        }
        return required;
    }

    /** True when the escrow of an enforced quota is nearly used up and may still grow. */
    public static boolean needsEscrow(QuotaState state, GpuQuota quota) {
        return quota.mode() == GpuQuota.Mode.ENFORCE
                && quota.limits().stream().anyMatch(limit -> {
                    int escrow = quota.status().escrow().getOrDefault(limit.id(), 0);
                    int used = state.used(quota, limit).roundedUp();
                    return used > 0
                            && escrow < limit.max()
                            && used + Math.min(LOW_WATER, limit.max() - escrow) > escrow;
                });
    }

    /** Status of a quota with an escrow that is ahead of what is used, and the present counts. */
    public static QuotaStatus raisedStatus(QuotaState state, GpuQuota quota) {
        Map<String, Integer> escrow = new TreeMap<>();
        for (QuotaLimit limit : quota.limits()) {
            int known = quota.status().escrow().getOrDefault(limit.id(), 0);
            int used = state.used(quota, limit).roundedUp();
            int ahead = used == 0 ? 0 : Math.max(used, Math.min(limit.max(), used + ESCROW_BLOCK));
            escrow.put(limit.id(), Math.max(known, ahead));
        }
        return countedStatus(state, quota, false).withEscrow(escrow);
    }

    /**
     * Status with which a quota is acquired, given its status with the new token: a row for each limit, so that a successor
     * can tell a limit that nobody used from one that this leader never saw.
     */
    public static QuotaStatus acquiredStatus(QuotaState state, GpuQuota quota, QuotaStatus token) {
        boolean ledBefore = quota.status().term() > 0;
        Map<String, Integer> escrow = new TreeMap<>();
        for (QuotaLimit limit : quota.limits()) {
            int unknown = ledBefore ? limit.max() : 0;
            int known = quota.status().escrow().getOrDefault(limit.id(), unknown);
            escrow.put(limit.id(), Math.max(known, usedOf(state, quota, limit)));
        }
        return token.withEscrow(escrow);
    }

    /**
     * Used part of a limit, rounded up. Also where that is more than the limit: the limit may be raised before a successor
     * has listed the pods.
     */
    private static int usedOf(QuotaState state, GpuQuota quota, QuotaLimit limit) {
        return state.used(quota, limit).roundedUp();
    }

    /**
     * Status of a quota with what is used now and at least as much escrow, since a limit or its namespaces may have been
     * edited; where {@code lowerEscrow}, no more than that.
     */
    public static QuotaStatus countedStatus(QuotaState state, GpuQuota quota, boolean lowerEscrow) {
        Map<String, GpuAmount> used = new TreeMap<>();
        Map<String, Integer> escrow = new TreeMap<>();
        for (QuotaLimit limit : quota.limits()) {
            GpuAmount counted = state.used(quota, limit);
            int known = quota.status().escrow().getOrDefault(limit.id(), 0);
            used.put(limit.id(), counted.minus(state.carriedOver(quota, limit)));
            int needed = usedOf(state, quota, limit);
            escrow.put(limit.id(), lowerEscrow ? needed : Math.max(known, needed));
        }
        return quota.status().withUsed(used).withEscrow(escrow).withUnknownLimits(unknownLimits(state, quota));
    }

    /** True when a successor would count more of a quota as used than is. */
    public static boolean hasUnusedEscrow(QuotaState state, GpuQuota quota) {
        return quota.limits().stream()
                .anyMatch(limit -> quota.status().escrow().getOrDefault(limit.id(), 0) > usedOf(state, quota, limit));
    }

    /** Limits of a quota that count no device that any node has or had, by their ids. */
    public static SortedSet<String> unknownLimits(QuotaState state, GpuQuota quota) {
        return quota.limits().stream()
                .filter(limit -> !state.knowsLimit(limit))
                .map(QuotaLimit::id)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Warnings for the author of a quota: limits that count nothing. */
    public static List<String> warnings(QuotaState state, List<QuotaLimit> limits) {
        return limits.stream()
                .filter(limit -> !state.knowsLimit(limit))
                .map(limit -> "limit " + limit.id() + ": no node of the cluster has or had a device that it counts;"
                        + " right for a pool without nodes, else compare with kubectl get nodes -L gpu-type")
                .toList();
    }

    /** True when an enforced quota covers the namespace, so that its webhook has to fail closed. */
    public static boolean isEnforced(QuotaState state, String namespace) {
        return state.covering(namespace).stream().anyMatch(quota -> quota.mode() == GpuQuota.Mode.ENFORCE);
    }
}
