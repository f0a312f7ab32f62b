package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.app.counters.DaemonCounters;
import io.gpufleet.nodedaemon.model.allocation.DeviceList;
import java.util.Map;

/** The ports through which the node's state leaves the loop. */
public record NodeOutputs(
        FactSink facts,
        StateStore store,
        AllocationHandler allocations,
        ListAndWatchPublisher publisher,
        DaemonCounters counters) {
    /** Updates the allocation handler first, so that an Allocate in between is answered from the new list. */
    void publish(Map<String, DeviceList> lists, long version) {
        allocations.lists(lists, version);
        publisher.publish(lists);
    }
}
