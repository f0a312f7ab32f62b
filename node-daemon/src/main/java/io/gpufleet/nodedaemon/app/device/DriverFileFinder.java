package io.gpufleet.nodedaemon.app.device;

import io.gpufleet.nodedaemon.model.allocation.AllocationResult.Mount;
import java.util.List;

/** Finds the files of a driver that is installed in the host's own directories. */
public interface DriverFileFinder {
    /** Returns mounts of the libraries and programs of a version below {@code /usr/local/nvidia}; blocks on the file system. */
    List<Mount> find(String driverRoot, String driverVersion);
}
