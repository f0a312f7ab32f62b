package io.gpufleet.inventory.app;

/** Receives changes of Node objects, and each existing one when the watch starts. */
public interface NodeListener {
    /** The object exists, or changed. */
    void onChanged(NodeObject node);

    /** The object was deleted. */
    void onDeleted(String node, String uid);
}
