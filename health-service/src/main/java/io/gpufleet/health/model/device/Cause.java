package io.gpufleet.health.model.device;

import io.gpufleet.health.model.fault.RecommendedAction;

/**
 * Cause of a state that is not healthy.
 *
 * @param reason machine-readable, CamelCase, for example {@code Xid79}
 * @param recommendedAction for an operator
 */
public record Cause(String reason, RecommendedAction recommendedAction) {}
