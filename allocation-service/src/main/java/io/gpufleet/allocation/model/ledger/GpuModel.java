package io.gpufleet.allocation.model.ledger;

/** GPUs of one model on a node: product name, short name, number. */
public record GpuModel(String model, String shortModel, int gpus) {}
