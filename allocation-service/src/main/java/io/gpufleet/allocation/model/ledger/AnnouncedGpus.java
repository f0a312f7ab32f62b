package io.gpufleet.allocation.model.ledger;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * GPUs of a node, as its daemon announced them.
 *
 * @param migParents UUID of the physical GPU by UUID of the MIG device
 */
public record AnnouncedGpus(List<GpuModel> models, Map<String, String> migParents) {
    /** A node without announced GPUs. */
    public static final AnnouncedGpus NONE = new AnnouncedGpus(List.of(), Map.of());

    /** Copies, sorted. */
    public AnnouncedGpus {
        models = List.copyOf(models);
        migParents = Collections.unmodifiableMap(new TreeMap<>(migParents));
    }
}
