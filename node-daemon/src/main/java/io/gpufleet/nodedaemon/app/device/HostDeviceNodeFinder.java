package io.gpufleet.nodedaemon.app.device;

import io.gpufleet.nodedaemon.model.allocation.HostDeviceNodes;

/** Finds the device nodes of the host for containers. */
public interface HostDeviceNodeFinder {
    /** Returns the present nodes; blocks on the file system. */
    HostDeviceNodes find(String driverRoot);
}
