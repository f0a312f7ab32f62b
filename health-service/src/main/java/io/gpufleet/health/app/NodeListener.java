package io.gpufleet.health.app;

/** Port: receives the changes of Node objects. Methods return at once. */
public interface NodeListener {
    /** The Node was added or changed. */
    void nodeChanged(String node);

    /** The Node object was deleted. */
    void nodeDeleted(String node, String uid);
}
