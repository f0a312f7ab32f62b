package io.gpufleet.allocation.model.ledger;

import java.time.Instant;
import java.util.List;

/**
 * An answered Allocate call whose holder is not known yet: the kubelet does not name the pod.
 *
 * @param at time of the answer, by the node's clock
 * @param appendedAt append time of the fact
 */
public record PendingAllocate(
        List<String> deviceIds, String resource, Instant at, Instant appendedAt, EventSequence eventSequence) {}
