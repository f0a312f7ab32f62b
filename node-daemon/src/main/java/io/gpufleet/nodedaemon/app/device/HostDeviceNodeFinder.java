package io.gpufleet.nodedaemon.app.device;

import io.gpufleet.nodedaemon.model.allocation.HostDeviceNodes;
import io.gpufleet.nodedaemon.model.device.Gpu;
import java.util.List;
import java.util.Map;

/** Finds the device nodes of the host for containers. */
public interface HostDeviceNodeFinder {
    /** Returns the present nodes; blocks on the file system. */
    HostDeviceNodes find(String driverRoot);

    /** Makes the nodes that these GPUs need; returns why a node is missing still, by its path in a container. */
    default Map<String, String> ensure(String driverRoot, List<Gpu> gpus) {
        return Map.of();
    }
}
