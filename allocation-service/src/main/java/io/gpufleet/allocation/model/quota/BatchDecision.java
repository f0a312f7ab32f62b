package io.gpufleet.allocation.model.quota;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Decision on a batch of requests: a value that is applied after its escrow was written, or dropped.
 *
 * @param decisions one decision for each request, in the order of the requests
 * @param events reservations of the admitted pods
 * @param requiredStatus status by quota name, of every enforced quota that covers a namespace of the batch, in name
 *     order; equal to the known status where the escrow need not grow
 */
public record BatchDecision(
        List<AdmissionDecision> decisions, List<QuotaEvent> events, Map<String, QuotaStatus> requiredStatus) {
    /** Copies. */
    public BatchDecision {
        decisions = List.copyOf(decisions);
        events = List.copyOf(events);
        requiredStatus = java.util.Collections.unmodifiableMap(new LinkedHashMap<>(requiredStatus));
    }
}
