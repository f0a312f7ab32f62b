package io.gpufleet.health.app;

/** Port, inwards: what the watch of Node objects tells. Returns at once. */
public interface NodeWatcher {
    /** The Node appeared or changed. */
    void nodeChanged(String node);

    /** The Node object is gone. */
    void nodeGone(String node, String uid);
}
