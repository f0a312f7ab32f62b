package io.gpufleet.nodedaemon.model.device;

/** One sample of a MIG instance. */
public record MigInstanceSample(String migUuid, GpuMetricReadings metrics) {}
