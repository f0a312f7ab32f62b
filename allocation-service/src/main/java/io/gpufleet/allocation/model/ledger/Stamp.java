package io.gpufleet.allocation.model.ledger;

/** The place of a fact in its writer's log; together with node and topic it never repeats. */
public record Stamp(long epoch, long sequence) {}
