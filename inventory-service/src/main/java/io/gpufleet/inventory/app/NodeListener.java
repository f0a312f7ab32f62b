package io.gpufleet.inventory.app;

/** Hears what becomes of Node objects; at the start every Node is seen once. */
public interface NodeListener {
    /** The object is there, or changed. */
    void seen(NodeObject node);

    /** The object is gone. */
    void gone(String node, String uid);
}
