package io.gpufleet.cli.drill;

import java.util.List;
import java.util.Optional;

/** The fleet as a drill observes it, with the pods of the drill. Every method blocks. */
interface ObservedFleet {
    /** A line for each part that is not ready, with its reasons. */
    List<String> notReady();

    /** True where the Node has our taint. */
    boolean tainted(String node);

    /** GPUs that the Node offers; 0 where it has none. */
    int allocatable(String node);

    /** Creates a pod that holds a GPU until it is deleted. */
    void createPod(String name);

    /** The uid of a pod of this drill that runs; empty while it does not. */
    Optional<String> runningPod(String name);

    /** Deletes the pods of these names. */
    void deletePods(String... names);

    /** True once no pod of a drill is left. */
    boolean podsGone();

    /** Number of records that nobody could read. */
    long deadLetters();

    /** True where the webhook answers a review, and its Secret has a valid certificate. */
    boolean webhookIsSound();
}
