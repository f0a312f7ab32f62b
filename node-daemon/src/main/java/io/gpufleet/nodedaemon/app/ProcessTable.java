package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.ProcessOwner;
import java.util.Optional;

/** Who can tell whose a process of the node is. */
public interface ProcessTable {
    /** Whose it is; empty where there is no such process (any more). */
    Optional<ProcessOwner> owner(int pid);
}
