package io.gpufleet.allocation.model.ledger;

import java.time.Instant;
import java.util.List;

/**
 * An answered Allocate whose holder was not seen yet. The kubelet does not say for which pod it asks.
 *
 * @param at when it was answered, by the node's clock
 * @param appendedAt append time of the fact
 */
public record Pending(List<String> deviceIds, String resource, Instant at, Instant appendedAt, Stamp stamp) {}
