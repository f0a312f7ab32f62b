package io.gpufleet.allocation.app;

import io.gpufleet.allocation.model.scheduling.GpuPod;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A pod that requests extended resources, as the API server shows it.
 *
 * @param phase {@code status.phase}
 * @param finishedAt latest finishedAt of all its containers by the node's clock; null until the pod finished
 * @param owner kind and name of the controlling owner, or empty
 */
public record ObservedPod(
        GpuPod gpuPod, String phase, @Nullable Instant finishedAt, String owner, Map<String, String> labels) {
    /** Copies. */
    public ObservedPod {
        labels = Map.copyOf(labels);
    }
}
