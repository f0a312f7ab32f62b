package io.gpufleet.inventory.app;

/** What acts beside the fold, on the active replica only. */
public interface Acting {
    /** The role was won and the state is complete. */
    void begin();

    /** A committed view of a node may differ from what stands in Kubernetes. */
    void changed(String node);

    /** The role is lost; returns when nothing acts any more. */
    void end();
}
