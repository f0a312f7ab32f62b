package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.app.counters.DaemonCounters;
import io.gpufleet.nodedaemon.model.allocation.AllocationTableFactory;
import io.gpufleet.nodedaemon.model.allocation.DeviceList;
import io.gpufleet.nodedaemon.model.allocation.OfferedDevice;
import io.gpufleet.nodedaemon.model.device.Moment;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Answers the kubelet's calls from snapshots, with one {@link ResourceHandler} per resource: no call takes a lock, waits,
 * or touches disk or Kafka.
 */
public final class AllocationHandler {
    private final AllocationRecorder recorder;
    private final Map<String, ResourceHandler> resources = new ConcurrentHashMap<>();

    /** Makes a handler that lists no devices yet. */
    public AllocationHandler(
            AllocationTableFactory allocator,
            Supplier<Moment> now,
            DaemonCounters counters,
            Consumer<NodeLoopInput> inbox) {
        this.recorder = new AllocationRecorder(allocator, now, counters, inbox);
    }

    /** Returns the handler of a resource; its list is empty until {@link #lists} sets one. */
    public ResourceHandler resource(String name) {
        return resources.computeIfAbsent(name, _ -> new ResourceHandler(recorder, name));
    }

    /** Returns every device that is listed now, of all resources. */
    public List<OfferedDevice> offers() {
        return resources.values().stream()
                .flatMap(resource -> resource.list().devices().stream())
                .toList();
    }

    /** Replaces the device lists; a resource that is missing gets an empty list. Called by one thread. */
    public void lists(Map<String, DeviceList> next, long version) {
        next.forEach((name, list) -> resource(name).list(list));
        Set<String> emptied = Set.copyOf(resources.keySet());
        emptied.stream()
                .filter(name -> !next.containsKey(name))
                .filter(name -> !resource(name).list().devices().isEmpty())
                .forEach(name -> resource(name).list(new DeviceList(version, List.of())));
    }

    /** Replaces the allocator, for example when device nodes appeared. */
    public void allocator(AllocationTableFactory next) {
        recorder.allocator(next);
        resources.values().forEach(ResourceHandler::rebuildAllocations);
    }

    /** Returns the allocator in force. */
    public AllocationTableFactory allocator() {
        return recorder.allocator();
    }

    /** When the kubelet last called; its list of allocations is not read right after. */
    long lastRequestNanos() {
        return recorder.lastRequestNanos();
    }
}
