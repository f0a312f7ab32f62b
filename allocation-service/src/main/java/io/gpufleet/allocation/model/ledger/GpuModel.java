package io.gpufleet.allocation.model.ledger;

/** One GPU model of a node: product name, short name, number of GPUs. */
public record GpuModel(String model, String shortModel, int gpus) {}
