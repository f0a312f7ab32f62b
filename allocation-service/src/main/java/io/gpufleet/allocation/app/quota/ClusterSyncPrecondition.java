package io.gpufleet.allocation.app.quota;

/** Facts of the cluster that must be known before anything is decided. */
public enum ClusterSyncPrecondition {
    /** Labels of all namespaces: without them a namespaceSelector covers nothing. */
    NAMESPACES("namespaces not listed from the API server yet"),
    /** Labels of all Nodes. */
    NODES("nodes not listed from the API server yet"),
    /** Pods that request GPUs. */
    PODS("pods not listed from the API server yet"),
    /** ResourceClaims. */
    CLAIMS("resource claims not listed from the API server yet"),
    /** GPU models that the daemons announced. */
    MODELS("GPU models not read from the log yet");

    private final String missing;

    ClusterSyncPrecondition(String missing) {
        this.missing = missing;
    }

    /** Readiness failure while it is not known. */
    public String missing() {
        return missing;
    }
}
