package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.allocation.MpsDaemonSpec;
import java.nio.file.Path;
import java.util.Set;

/** MPS control daemons, which run in a DaemonSet of their own. */
public interface MpsControl {
    /**
     * Publishes the spec of one control daemon; returns {@link io.gpufleet.nodedaemon.model.allocation.CompanionStatus#READY} or
     * its problem.
     */
    String reconcile(MpsDaemonSpec spec);

    /** Removes every spec below a root directory, except those of these directories. */
    void removeStale(Path root, Set<String> directories);
}
