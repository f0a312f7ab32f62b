package io.gpufleet.allocation.model.scheduling;

import java.util.Map;

/** Resources of a container, as text of its pod's specification. */
public record ContainerResources(
        String name, ContainerType type, Map<String, String> requests, Map<String, String> limits) {
    /** When a container runs. */
    public enum ContainerType {
        /** Runs to its end, before the next container. */
        INIT,
        /** Starts among the init containers and runs to the end of the pod. */
        SIDECAR,
        /** Runs after all init containers. */
        APP
    }

    /** Copies. */
    public ContainerResources {
        requests = Map.copyOf(requests);
        limits = Map.copyOf(limits);
    }
}
