package io.gpufleet.nodedaemon.model;

import io.gpufleet.nodedaemon.model.settings.AllocateSettings.IdNames;

/** What of a GPU a device is. */
public sealed interface Part {
    /** All of it. */
    record Whole() implements Part {}

    /** One MIG instance. */
    record Slice(MigInstance instance) implements Part {}

    /** The UUID of the part, by which NVIDIA's software knows it. */
    default String uuid(Gpu gpu) {
        return switch (this) {
            case Whole _ -> gpu.uuid();
            case Slice(MigInstance instance) -> instance.uuid();
        };
    }

    /** The name of the part to a container: UUID, or {@code i} and {@code i:j} by index. */
    default String name(Gpu gpu, IdNames names) {
        return switch (names) {
            case UUID -> uuid(gpu);
            case INDEX ->
                switch (this) {
                    case Whole _ -> Integer.toString(gpu.index());
                    case Slice(MigInstance instance) -> gpu.index() + ":" + instance.index();
                };
        };
    }
}
