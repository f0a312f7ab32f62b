package io.gpufleet.allocation.model.quota;

import io.gpufleet.allocation.model.scheduling.GpuPod;
import io.gpufleet.allocation.model.scheduling.GpuRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

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
        return switch (GpuRequest.of(request.pod().containers(), state.resources())) {
            case GpuRequest.Invalid(String message) -> Evaluation.of(new AdmissionDecision.Denied(message));
            case GpuRequest.Count(int gpus) ->
                gpus == 0 || state.knows(request.pod().uid())
                        ? Evaluation.of(AdmissionDecision.Admitted.WITHOUT_WARNINGS)
                        : evaluate(state, request, gpus, nanos);
        };
    }

    private static Evaluation evaluate(QuotaState state, AdmissionRequest request, int gpus, long nanos) {
        GpuPod pod = request.pod();
        Set<String> models = state.modelsFor(pod.constraints());
        List<GpuQuota> quotas = state.covering(pod.namespace());
        Optional<CountedPod> sameName = state.reservationOfSameName(pod);
        List<String> warnings = new ArrayList<>();
        for (GpuQuota quota : quotas) {
            List<String> violations = violations(state, quota, new Requested(pod.namespace(), models, gpus, sameName));
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
                decision, reserves ? Optional.of(new CountedPod(pod, gpus, models, true, nanos)) : Optional.empty());
    }

    /** What is asked for; a reservation for the same name is free, since only one of the two can become a pod. */
    private record Requested(String namespace, Set<String> models, int gpus, Optional<CountedPod> sameName) {
        int free(QuotaLimit limit) {
            return sameName.filter(pod -> limit.appliesTo(pod.models()))
                    .map(CountedPod::gpus)
                    .orElse(0);
        }
    }

    private static List<String> violations(QuotaState state, GpuQuota quota, Requested requested) {
        List<QuotaLimit> applying = quota.limits().stream()
                .filter(limit -> limit.appliesTo(requested.models()))
                .toList();
        boolean byModel = applying.stream().anyMatch(limit -> !limit.model().equals(QuotaLimit.ANY));
        boolean ambiguous = requested.models().size() > 1 || requested.models().contains(QuotaLimit.UNKNOWN);
        if (byModel && ambiguous && quota.ambiguousModel() == GpuQuota.AmbiguousModel.DENY) {
            return List.of(DenialMessages.ambiguousModel(quota, requested.models()));
        }
        List<String> violations = new ArrayList<>();
        for (QuotaLimit limit : applying) {
            if (state.gpus(quota, limit) - requested.free(limit) + requested.gpus() > limit.gpus()) {
                violations.add(DenialMessages.overLimit(
                        quota, limit, state.usage(quota, limit), requested.gpus(), requested.namespace()));
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
                            new LimitKey(quota.name(), limit.model()),
                            Math.min(limit.gpus(), state.gpus(quota, limit)));
                }
            }
        }
        return required;
    }

    /** True when the escrow of an enforced quota is nearly used up and may still grow. */
    public static boolean needsEscrow(QuotaState state, GpuQuota quota) {
        return quota.mode() == GpuQuota.Mode.ENFORCE
                && quota.limits().stream().anyMatch(limit -> {
                    int escrow = quota.status().escrow().getOrDefault(limit.model(), 0);
                    int used = state.gpus(quota, limit);
                    return used > 0
                            && escrow < limit.gpus()
                            && used + Math.min(LOW_WATER, limit.gpus() - escrow) > escrow;
                });
    }

    /** Status of a quota with an escrow that is ahead of what is used, and the present counts. */
    public static QuotaStatus raisedStatus(QuotaState state, GpuQuota quota) {
        Map<String, Integer> escrow = new TreeMap<>();
        for (QuotaLimit limit : quota.limits()) {
            int known = quota.status().escrow().getOrDefault(limit.model(), 0);
            int used = state.gpus(quota, limit);
            int ahead = used == 0 ? 0 : Math.min(limit.gpus(), used + ESCROW_BLOCK);
            escrow.put(limit.model(), Math.max(known, ahead));
        }
        return countedStatus(state, quota, false).withEscrow(escrow);
    }

    /** Status of a quota with the GPUs in use now and, where {@code lowerEscrow}, no more escrow than that. */
    public static QuotaStatus countedStatus(QuotaState state, GpuQuota quota, boolean lowerEscrow) {
        Map<String, Integer> used = new TreeMap<>();
        Map<String, Integer> escrow = new TreeMap<>();
        for (QuotaLimit limit : quota.limits()) {
            int gpus = state.gpus(quota, limit);
            int known = quota.status().escrow().getOrDefault(limit.model(), 0);
            used.put(limit.model(), gpus - state.carriedOver(quota, limit));
            escrow.put(limit.model(), lowerEscrow ? Math.min(known, gpus) : known);
        }
        return quota.status().withUsed(used).withEscrow(escrow).withUnknownModels(unknownModels(state, quota));
    }

    private static SortedSet<String> unknownModels(QuotaState state, GpuQuota quota) {
        SortedSet<String> unknown = new TreeSet<>();
        for (QuotaLimit limit : quota.limits()) {
            if (!limit.model().equals(QuotaLimit.ANY) && !state.knowsModel(limit.model())) {
                unknown.add(limit.model());
            }
        }
        return unknown;
    }

    /** True when an enforced quota covers the namespace, so that its webhook has to fail closed. */
    public static boolean isEnforced(QuotaState state, String namespace) {
        return state.covering(namespace).stream().anyMatch(quota -> quota.mode() == GpuQuota.Mode.ENFORCE);
    }
}
