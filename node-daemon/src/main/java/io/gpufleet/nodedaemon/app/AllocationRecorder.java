package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.app.counters.DaemonCounters;
import io.gpufleet.nodedaemon.model.allocation.AllocationResult;
import io.gpufleet.nodedaemon.model.allocation.AllocationTable;
import io.gpufleet.nodedaemon.model.allocation.AllocationTableFactory;
import io.gpufleet.nodedaemon.model.device.Moment;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** The allocator in force and the record of the kubelet's requests, shared by the handlers of all resources. */
final class AllocationRecorder {
    private static final long HOUR_NANOS = 3_600_000_000_000L;

    private final Supplier<Moment> now;
    private final DaemonCounters counters;
    private final Consumer<NodeLoopInput> inbox;
    private volatile AllocationTableFactory allocator;
    private volatile long lastRequestNanos;

    AllocationRecorder(
            AllocationTableFactory allocator,
            Supplier<Moment> now,
            DaemonCounters counters,
            Consumer<NodeLoopInput> inbox) {
        this.allocator = allocator;
        this.now = now;
        this.counters = counters;
        this.inbox = inbox;
        // No request yet: long enough ago to delay nothing.
        this.lastRequestNanos = now.get().nanos() - HOUR_NANOS;
    }

    AllocationTableFactory allocator() {
        return allocator;
    }

    void allocator(AllocationTableFactory next) {
        allocator = next;
    }

    long lastRequestNanos() {
        return lastRequestNanos;
    }

    void requestReceived() {
        lastRequestNanos = now.get().nanos();
    }

    /** Answers one Allocate call from the table, counts it, and adds the allocations of an accepted one to a list. */
    AllocationResult allocate(
            String resource,
            AllocationTable allocations,
            List<List<String>> containers,
            List<NodeLoopInput.DevicesAllocated.Allocation> accepted) {
        long start = now.get().nanos();
        lastRequestNanos = start;
        AllocationResult result = allocations.allocate(containers);
        switch (result) {
            case AllocationResult.Accepted _ -> {
                long micros = (now.get().nanos() - start) / 1_000;
                counters.allocated(micros);
                containers.forEach(
                        ids -> accepted.add(new NodeLoopInput.DevicesAllocated.Allocation(resource, ids, micros)));
            }
            case AllocationResult.Refused _ -> counters.refused();
        }
        return result;
    }

    /** Puts allocations into the queue of the loop, as one input. */
    void publish(List<NodeLoopInput.DevicesAllocated.Allocation> accepted) {
        inbox.accept(new NodeLoopInput.DevicesAllocated(accepted));
    }
}
