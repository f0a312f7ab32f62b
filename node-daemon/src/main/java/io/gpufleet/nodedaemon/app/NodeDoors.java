package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.DeviceList;
import java.util.List;

/**
 * Where the node's state shows itself.
 *
 * @param strategies how Allocate answers, as events name it
 */
record NodeDoors(
        FactSink facts,
        StateStore store,
        KubeletDesk desk,
        KubeletFace kubelet,
        Counters counters,
        List<String> strategies) {
    /** The desk first: an Allocate that comes now is already answered from the new list. */
    void show(DeviceList list) {
        desk.list(list);
        kubelet.show(list);
    }
}
