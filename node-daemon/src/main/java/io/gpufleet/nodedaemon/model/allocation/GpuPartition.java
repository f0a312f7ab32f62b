package io.gpufleet.nodedaemon.model.allocation;

import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.device.MigInstance;
import io.gpufleet.nodedaemon.model.settings.AllocateSettings.DeviceIdStrategy;

/** The part of a GPU that a device is. */
public sealed interface GpuPartition {
    /** The whole GPU. */
    record FullGpu() implements GpuPartition {}

    /** One MIG instance. */
    record Mig(MigInstance instance) implements GpuPartition {}

    /** Returns the UUID of the partition, as NVIDIA's software knows it. */
    default String uuid(Gpu gpu) {
        return switch (this) {
            case FullGpu _ -> gpu.uuid();
            case Mig(MigInstance instance) -> instance.uuid();
        };
    }

    /** Returns the name of the partition in a container: UUID, or {@code i} and {@code i:j} by index. */
    default String name(Gpu gpu, DeviceIdStrategy names) {
        return switch (names) {
            case UUID -> uuid(gpu);
            case INDEX ->
                switch (this) {
                    case FullGpu _ -> Integer.toString(gpu.index());
                    case Mig(MigInstance instance) -> gpu.index() + ":" + instance.index();
                };
        };
    }
}
