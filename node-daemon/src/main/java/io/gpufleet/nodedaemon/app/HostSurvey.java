package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.HostNodes;

/** Finds out what the host has for containers. */
public interface HostSurvey {
    /** What is there now; blocks on the file system. */
    HostNodes find(String driverRoot);
}
