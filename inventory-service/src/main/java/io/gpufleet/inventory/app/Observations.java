package io.gpufleet.inventory.app;

import java.util.List;

/** Where observations of Kubernetes are told, so that they enter the fold by the log like everything else. */
public interface Observations {
    /** The Node object was seen, or changed in what we need of it. */
    void seen(NodeObject node);

    /** The Node object is gone. */
    void gone(String node, String uid);

    /**
     * What became of writing labels.
     *
     * @param revision of the view that asked for them
     * @param conflicts keys that somebody else owns
     * @param error one line, or empty when they stand
     */
    void labelled(String node, String uid, long revision, List<String> conflicts, String error);
}
