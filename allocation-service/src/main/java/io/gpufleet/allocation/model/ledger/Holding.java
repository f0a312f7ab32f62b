package io.gpufleet.allocation.model.ledger;

/** One container has one device. */
public record Holding(Holder holder, HeldDevice device) {}
