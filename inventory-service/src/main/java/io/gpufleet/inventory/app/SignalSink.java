package io.gpufleet.inventory.app;

import java.util.List;

/** Publishes observations of Kubernetes to the log, from which the projection reads them like all other events. */
public interface SignalSink {
    /** The Node object was first observed, or changed. */
    void nodeObserved(NodeObject node);

    /** The Node object was deleted. */
    void nodeDeleted(String node, String uid);

    /**
     * Result of applying labels.
     *
     * @param revision of the view they were computed from
     * @param conflicts keys that another field manager owns
     * @param error one line, or empty if they are applied
     */
    void labelsApplied(String node, String uid, long revision, List<String> conflicts, String error);
}
