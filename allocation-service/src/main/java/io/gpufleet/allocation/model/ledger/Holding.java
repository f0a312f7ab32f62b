package io.gpufleet.allocation.model.ledger;

/** A device and the container that holds it. */
public record Holding(Holder holder, HeldDevice device) {}
