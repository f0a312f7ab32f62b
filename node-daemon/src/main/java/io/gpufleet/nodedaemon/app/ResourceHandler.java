package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.allocation.AllocationResult;
import io.gpufleet.nodedaemon.model.allocation.AllocationTable;
import io.gpufleet.nodedaemon.model.allocation.DeviceList;
import io.gpufleet.nodedaemon.model.preferred.PreferredAllocation;
import io.gpufleet.nodedaemon.model.settings.ReplicaAllocationPolicy;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;

/** Answers the kubelet's calls for one resource. */
public final class ResourceHandler {
    private final AllocationRecorder recorder;
    private final String resource;
    private volatile DeviceList list = new DeviceList(0, List.of());
    private volatile AllocationTable allocations;
    private volatile PreferredAllocation preferences =
            PreferredAllocation.of(list, ReplicaAllocationPolicy.DISTRIBUTED);

    ResourceHandler(AllocationRecorder recorder, String resource) {
        this.recorder = recorder;
        this.resource = resource;
        this.allocations = recorder.allocator().table(resource, list);
    }

    /** Returns the device list in force. */
    public DeviceList list() {
        return list;
    }

    /** Replaces the device list. Called by one thread. */
    public void list(DeviceList next) {
        list = next;
        preferences = preferences.with(next, recorder.allocator().settings().replicaPolicy());
        rebuildAllocations();
    }

    /** Rebuilds the table after a change of the allocator. Called by the thread that calls {@link #list(DeviceList)}. */
    void rebuildAllocations() {
        allocations = recorder.allocator().table(resource, list);
    }

    /** Answers Allocate. */
    public AllocationResult allocate(List<List<String>> containers) {
        return recorder.allocate(resource, allocations, containers);
    }

    /** Whether the kubelet shall call PreStartContainer. */
    public boolean preStart() {
        return recorder.allocator().settings().allocate().preStart();
    }

    /** Answers PreStartContainer: the refusal when the container must not start; else empty. */
    public Optional<AllocationResult.Refused> preStart(List<String> ids) {
        return allocations.refusal(ids, new HashSet<>());
    }

    /** Answers GetPreferredAllocation; never an error, or the kubelet would fail the pod. */
    public List<String> preferred(List<String> available, List<String> mustInclude, int size) {
        recorder.requestReceived();
        return preferences.choose(available, mustInclude, size);
    }
}
