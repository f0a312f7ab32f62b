package io.gpufleet.allocation.app;

import io.gpufleet.allocation.model.ledger.AnnouncedGpus;
import io.gpufleet.allocation.model.scheduling.GpuResources;
import java.util.Collection;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/** Names of GPU resources, for readers on any thread. A name once known stays known until the process ends. */
public final class KnownGpuResources implements Supplier<GpuResources> {
    private final AtomicReference<GpuResources> known;

    /** The configured names only. */
    public KnownGpuResources(GpuResources configured) {
        this.known = new AtomicReference<>(configured);
    }

    /** Nodes announced what they offer. */
    public void announced(Collection<AnnouncedGpus> nodes) {
        nodes.forEach(gpus -> known.updateAndGet(names -> names.with(gpus.resources())));
    }

    @Override
    public GpuResources get() {
        return known.get();
    }
}
