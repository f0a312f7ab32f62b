package io.gpufleet.allocation.model.quota;

import io.gpufleet.allocation.model.quota.UsageTotals.LimitKey;
import io.gpufleet.allocation.model.scheduling.GpuPod;
import io.gpufleet.allocation.model.scheduling.GpuRequest;
import io.gpufleet.allocation.model.scheduling.SchedulingConstraints;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import java.util.TreeMap;

/** Decides on pods by the quotas of a {@link QuotaState}, which it does not change. */
public final class QuotaEvaluator {
    private static final int ESCROW_BLOCK = 64;

    private final QuotaState state;
    private final long nanos;
    private final SequencedMap<String, CountedPod> reserved = new LinkedHashMap<>();
    private final Map<LimitKey, Integer> reservedGpus = new HashMap<>();
    private final Map<SchedulingConstraints, Set<String>> modelsByConstraints = new HashMap<>();

    private QuotaEvaluator(QuotaState state, long nanos) {
        this.state = state;
        this.nanos = nanos;
    }

    /**
     * Decides on a batch of requests at a monotonic time; earlier requests count for later ones. A pod that has a
     * reservation is admitted again without an event. A dry run and a denial reserve nothing.
     */
    public static BatchDecision decide(QuotaState state, List<AdmissionRequest> requests, long nanos) {
        var evaluator = new QuotaEvaluator(state, nanos);
        List<AdmissionDecision> decisions =
                requests.stream().map(evaluator::decide).toList();
        return new BatchDecision(
                decisions,
                evaluator.reserved.values().stream()
                        .<QuotaEvent>map(QuotaEvent.PodReserved::new)
                        .toList(),
                evaluator.requiredStatus(requests));
    }

    private AdmissionDecision decide(AdmissionRequest request) {
        GpuPod pod = request.pod();
        return switch (GpuRequest.of(pod.containers())) {
            case GpuRequest.Invalid(String message) -> new AdmissionDecision.Denied(message);
            case GpuRequest.Count(int gpus) ->
                gpus == 0 || state.reservations().containsKey(pod.uid()) || reserved.containsKey(pod.uid())
                        ? AdmissionDecision.Admitted.WITHOUT_WARNINGS
                        : decide(request, gpus);
        };
    }

    private AdmissionDecision decide(AdmissionRequest request, int gpus) {
        GpuPod pod = request.pod();
        Set<String> models = modelsByConstraints.computeIfAbsent(pod.constraints(), state.models()::modelsFor);
        List<GpuQuota> quotas = state.covering(pod.namespace());
        List<String> warnings = new ArrayList<>();
        for (GpuQuota quota : quotas) {
            List<String> violations = violations(quota, models, gpus);
            if (!violations.isEmpty() && quota.mode() == GpuQuota.Mode.ENFORCE) {
                return new AdmissionDecision.Denied(violations.getFirst());
            }
            warnings.addAll(violations);
        }
        if (!quotas.isEmpty() && !request.dryRun()) {
            reserve(new CountedPod(pod, gpus, models, true, nanos), quotas);
        }
        return warnings.isEmpty()
                ? AdmissionDecision.Admitted.WITHOUT_WARNINGS
                : new AdmissionDecision.Admitted(List.copyOf(warnings));
    }

    private void reserve(CountedPod pod, List<GpuQuota> quotas) {
        reserved.put(pod.pod().uid(), pod);
        for (GpuQuota quota : quotas) {
            quota.limits().stream()
                    .filter(limit -> limit.appliesTo(pod.models()))
                    .map(QuotaLimit::model)
                    .distinct()
                    .forEach(model -> reservedGpus.merge(new LimitKey(quota.name(), model), pod.gpus(), Integer::sum));
        }
    }

    private List<String> violations(GpuQuota quota, Set<String> models, int gpus) {
        List<QuotaLimit> applying =
                quota.limits().stream().filter(limit -> limit.appliesTo(models)).toList();
        boolean byModel = applying.stream().anyMatch(limit -> !limit.model().equals(QuotaLimit.ANY));
        boolean ambiguous = models.size() > 1 || models.contains(QuotaLimit.UNKNOWN);
        if (byModel && ambiguous && quota.ambiguousModel() == GpuQuota.AmbiguousModel.DENY) {
            return List.of(DenialMessages.ambiguousModel(quota, models));
        }
        List<String> violations = new ArrayList<>();
        for (QuotaLimit limit : applying) {
            if (gpus(quota, limit) + gpus > limit.gpus()) {
                violations.add(
                        DenialMessages.overLimit(quota, limit, state.usage(quota, limit, reserved.values()), gpus));
            }
        }
        return violations;
    }

    private int gpus(GpuQuota quota, QuotaLimit limit) {
        return state.gpus(quota, limit) + reservedGpus.getOrDefault(new LimitKey(quota.name(), limit.model()), 0);
    }

    private Map<String, QuotaStatus> requiredStatus(List<AdmissionRequest> requests) {
        Set<String> namespaces = new LinkedHashSet<>();
        requests.forEach(request -> namespaces.add(request.pod().namespace()));
        Map<String, QuotaStatus> required = new TreeMap<>();
        for (String namespace : namespaces) {
            for (GpuQuota quota : state.covering(namespace)) {
                if (quota.mode() == GpuQuota.Mode.ENFORCE) {
                    required.computeIfAbsent(quota.name(), name -> requiredStatus(quota));
                }
            }
        }
        return required;
    }

    private QuotaStatus requiredStatus(GpuQuota quota) {
        Map<String, Integer> escrow = new TreeMap<>(quota.status().escrow());
        for (QuotaLimit limit : quota.limits()) {
            int known = escrow.getOrDefault(limit.model(), 0);
            int needed = Math.min(limit.gpus(), gpus(quota, limit));
            if (needed > known) {
                int block = Math.min(ESCROW_BLOCK, limit.gpus() - known);
                escrow.put(limit.model(), Math.max(needed, known + block));
            }
        }
        return quota.status().withEscrow(escrow);
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
        return quota.status().withUsed(used).withEscrow(escrow);
    }

    /** Namespaces whose label has to change: true to set it, where an enforced quota covers them; false to remove it. */
    public static Map<String, Boolean> namespaceLabels(QuotaState state, String label) {
        Map<String, Boolean> changes = new TreeMap<>();
        state.namespaces().forEach((name, labels) -> {
            boolean enforced = state.covering(name).stream().anyMatch(quota -> quota.mode() == GpuQuota.Mode.ENFORCE);
            if (enforced != "enforce".equals(labels.getOrDefault(label, ""))) {
                changes.put(name, enforced);
            }
        });
        return changes;
    }
}
