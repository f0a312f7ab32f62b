package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.CdiNames;
import io.gpufleet.nodedaemon.model.Gpu;
import io.gpufleet.nodedaemon.model.HostNodes;
import java.util.List;

/** Tells container runtimes how devices get into containers. */
public interface RuntimeSpecs {
    /** Makes devices known, all others unknown; blocks on the disk. What it returns, containers can be given. */
    CdiNames describe(Devices devices);

    /**
     * What there is to describe.
     *
     * @param gpus every GPU of the node, also those that do not answer at the moment
     * @param driverVersion of the libraries that containers need
     * @param driverRoot directory of the driver on the host
     * @param nodes what the host has beside the GPUs
     */
    record Devices(List<Gpu> gpus, String driverVersion, String driverRoot, HostNodes nodes) {
        /** Copies the list. */
        public Devices {
            gpus = List.copyOf(gpus);
        }
    }
}
