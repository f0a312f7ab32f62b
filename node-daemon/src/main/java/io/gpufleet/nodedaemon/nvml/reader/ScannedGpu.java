package io.gpufleet.nodedaemon.nvml.reader;

import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.device.MigInstance;
import io.gpufleet.nodedaemon.nvml.call.Nvml;
import java.util.List;

/** A GPU that responded in the last scan, with its handles. */
public record ScannedGpu(Gpu gpu, Nvml.Handle device, List<MigReader.ScannedMigInstance> migInstances) {
    /** UUID of the MIG instance that an event names; empty where it names none, or more than one. */
    public String migUuid(int gpuInstance, int computeInstance) {
        List<String> matching = migInstances.stream()
                .map(MigReader.ScannedMigInstance::instance)
                .filter(instance -> instance.gpuInstance() == gpuInstance)
                .filter(instance -> computeInstance == -1 || instance.computeInstance() == computeInstance)
                .map(MigInstance::uuid)
                .toList();
        return matching.size() == 1 ? matching.getFirst() : "";
    }
}
