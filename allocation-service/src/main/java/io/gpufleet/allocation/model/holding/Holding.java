package io.gpufleet.allocation.model.holding;

/** A device and the container that holds it. */
public record Holding(Holder holder, HeldDevice device) {}
