package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.DeviceList;
import java.util.Map;

/** What shows the kubelet its devices. */
public interface KubeletFace {
    /**
     * Shows the lists on every open stream; returns at once. The first list of a resource also starts its registration;
     * a resource that is registered and not among the lists is shown empty.
     */
    void show(Map<String, DeviceList> lists);
}
