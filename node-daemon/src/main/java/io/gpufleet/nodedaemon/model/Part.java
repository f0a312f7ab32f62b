package io.gpufleet.nodedaemon.model;

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
}
