package io.gpufleet.nodedaemon.app.device;

import io.gpufleet.nodedaemon.model.hold.GpuReleaseRequest;
import java.util.Optional;

/** Requests on the node to release the GPUs, and their confirmation. No call throws for a disk error. */
public interface GpuReleaseRequestSource {
    /** Registers a callback, on any thread, for possible changes of {@link #request}. */
    void onChange(Runnable changed);

    /** Returns the current request. */
    Optional<GpuReleaseRequest> request();

    /**
     * Confirms the release to the requester.
     *
     * @return whether it is confirmed; false, for a retry, when this process still has a descriptor of a GPU open or the
     *     confirmation cannot be written
     */
    boolean confirmReleased(GpuReleaseRequest request);

    /** Withdraws the confirmation, before the driver is opened again. */
    void withdrawConfirmation();
}
