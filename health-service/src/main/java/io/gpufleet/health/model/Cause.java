package io.gpufleet.health.model;

/**
 * Why something is not healthy.
 *
 * @param reason machine-readable, CamelCase, for example {@code Xid79}
 * @param step what is due
 */
public record Cause(String reason, NextStep step) {}
