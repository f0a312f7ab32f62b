package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.DeviceList;

/** What shows the kubelet its devices. */
public interface KubeletFace {
    /** Shows a list on every open stream; returns at once. The first list also starts the registration. */
    void show(DeviceList list);
}
