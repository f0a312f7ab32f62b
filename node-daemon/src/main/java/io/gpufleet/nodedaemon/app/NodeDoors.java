package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.DeviceList;
import java.util.Map;

/** Where the node's state shows itself. */
record NodeDoors(FactSink facts, StateStore store, KubeletDesk desk, KubeletFace kubelet, Counters counters) {
    /** The desk first: an Allocate that comes now is already answered from the new list. */
    void show(Map<String, DeviceList> lists, long version) {
        desk.lists(lists, version);
        kubelet.show(lists);
    }
}
