package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.allocation.DeviceList;
import java.util.Map;

/** Publishes the device lists to the kubelet. */
public interface ListAndWatchPublisher {
    /**
     * Sends the lists on every open stream; returns at once. The first list of a resource also starts its registration; a
     * registered resource that is missing is sent as an empty list.
     */
    void publish(Map<String, DeviceList> lists);
}
