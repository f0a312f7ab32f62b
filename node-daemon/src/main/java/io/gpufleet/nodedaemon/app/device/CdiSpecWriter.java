package io.gpufleet.nodedaemon.app.device;

import io.gpufleet.nodedaemon.model.allocation.CdiNames;
import io.gpufleet.nodedaemon.model.allocation.HostDeviceNodes;
import io.gpufleet.nodedaemon.model.device.Gpu;
import java.util.List;

/** Writes the CDI spec, by which container runtimes inject devices. */
public interface CdiSpecWriter {
    /** Writes the spec of exactly these devices; blocks on the disk. Returns the names that container runtimes can resolve. */
    CdiNames write(Devices devices);

    /**
     * The content of the spec.
     *
     * @param gpus every GPU of the node, also those that do not respond at the moment
     * @param driverVersion of the libraries that containers need
     * @param driverRoot directory of the driver on the host
     * @param nodes other device nodes of the host
     */
    record Devices(List<Gpu> gpus, String driverVersion, String driverRoot, HostDeviceNodes nodes) {
        /** Copies the list. */
        public Devices {
            gpus = List.copyOf(gpus);
        }
    }
}
