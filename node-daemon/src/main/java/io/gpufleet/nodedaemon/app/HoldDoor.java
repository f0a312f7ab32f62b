package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.HoldRequest;
import java.util.Optional;

/** Where others on the node ask for the GPUs, and where they are told. No call throws for what a disk does. */
public interface HoldDoor {
    /** Calls back, on any thread, when there may be another answer to {@link #asked}. */
    void onChange(Runnable changed);

    /** What is asked for now. */
    Optional<HoldRequest> asked();

    /**
     * Says that everything was let go.
     *
     * @return whether that is said now; not where this process still has a descriptor of a GPU open, nor where it can
     *     not be written: try again
     */
    boolean released(HoldRequest request);

    /** Takes the word back, before anything is opened again. */
    void takenBack();
}
