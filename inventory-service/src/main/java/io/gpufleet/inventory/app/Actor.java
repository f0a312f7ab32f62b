package io.gpufleet.inventory.app;

/** Acts on Kubernetes on behalf of the active replica. */
public interface Actor {
    /** Starts acting: this replica is active and its state is restored. */
    void begin();

    /** The view of a node was committed and may differ from its Node object. */
    void changed(String node);

    /** Stops acting; returns when no write is in flight. */
    void end();
}
