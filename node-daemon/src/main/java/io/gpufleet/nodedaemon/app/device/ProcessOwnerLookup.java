package io.gpufleet.nodedaemon.app.device;

import io.gpufleet.nodedaemon.model.device.ProcessOwner;
import java.util.Optional;

/** Looks up the owner of a process of the node. */
public interface ProcessOwnerLookup {
    /** Returns the owner; empty when the process does not exist or has ended. */
    Optional<ProcessOwner> owner(int pid);
}
