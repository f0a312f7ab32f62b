package io.gpufleet.allocation.model.ledger;

/** Sequence of an event of one producer; unique together with node and topic. */
public record EventSequence(long epoch, long sequence) {}
