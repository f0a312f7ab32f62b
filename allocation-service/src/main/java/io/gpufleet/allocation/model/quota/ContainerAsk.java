package io.gpufleet.allocation.model.quota;

import java.util.Map;

/** What a container asks for, as text of its pod's specification. */
public record ContainerAsk(String name, Kind kind, Map<String, String> requests, Map<String, String> limits) {
    /** When a container runs. */
    public enum Kind {
        /** To its end, before the next one. */
        INIT,
        /** From its turn among the init containers to the end of the pod. */
        SIDECAR,
        /** After all init containers. */
        APP
    }

    /** Copies. */
    public ContainerAsk {
        requests = Map.copyOf(requests);
        limits = Map.copyOf(limits);
    }
}
