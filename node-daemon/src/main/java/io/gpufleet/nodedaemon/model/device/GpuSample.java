package io.gpufleet.nodedaemon.model.device;

import java.util.List;

/**
 * One sample of a GPU; each reading may be unavailable by itself.
 *
 * @param answers whether the NVML handle responds at all
 * @param recoveryAction the driver's recovery action
 * @param device basic readings
 * @param metrics further readings that are only published; no rule judges them
 * @param health readings that the fault rules judge
 * @param processes compute processes on the GPU and on its MIG instances; unavailable does not mean none
 * @param migInstances samples of its MIG instances
 */
public record GpuSample(
        String gpuUuid,
        Reading<Boolean> answers,
        Reading<RecoveryAction> recoveryAction,
        DeviceSample device,
        GpuMetricReadings metrics,
        HealthReadings health,
        Reading<List<ComputeProcess>> processes,
        List<MigInstanceSample> migInstances) {
    /** Copies the lists. */
    public GpuSample {
        processes = processes.map(List::copyOf);
        migInstances = List.copyOf(migInstances);
    }

    /** Returns the same sample with other processes. */
    public GpuSample with(Reading<List<ComputeProcess>> others) {
        return new GpuSample(gpuUuid, answers, recoveryAction, device, metrics, health, others, migInstances);
    }
}
