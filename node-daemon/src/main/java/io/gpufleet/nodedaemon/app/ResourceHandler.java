package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.allocation.AllocationResult;
import io.gpufleet.nodedaemon.model.allocation.AllocationTable;
import io.gpufleet.nodedaemon.model.allocation.AllocationTableFactory;
import io.gpufleet.nodedaemon.model.allocation.DeviceList;
import io.gpufleet.nodedaemon.model.preferred.PreferredAllocation;
import io.gpufleet.nodedaemon.model.settings.ReplicaAllocationPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;

/**
 * Answers the kubelet's calls for one resource, each from one immutable snapshot. The calls are made by one thread, which
 * publishes the allocations after it has answered: no thread is woken before the kubelet has its answer.
 */
public final class ResourceHandler {
    /** A turn of collecting allocations, which are published once a turn brought no further one. */
    public static final Duration COLLECTING = Duration.ofMillis(10);

    /** Publishing takes the threads of reports a while, which then delay calls: of a flood one in a thousand, not one in ninety. */
    private static final int MAX_COLLECTED = 1_000;

    /** Their ids take memory: 64 bytes each of a request that was not made before. */
    private static final int MAX_DEVICES = 8_000;

    private static final int MAX_TURNS = 25;

    private final AllocationRecorder recorder;
    private final String resource;
    private final List<NodeLoopInput.DevicesAllocated.Allocation> unpublished = new ArrayList<>();
    private int collectedBefore;
    private int collectedDevices;
    private int turns;
    private volatile ResourceSnapshot snapshot;

    /** All that the calls are answered from. */
    private record ResourceSnapshot(
            DeviceList list, AllocationTable allocations, PreferredAllocation preferences, boolean preStart) {}

    ResourceHandler(AllocationRecorder recorder, String resource) {
        this.recorder = recorder;
        this.resource = resource;
        DeviceList none = new DeviceList(0, List.of());
        this.snapshot = snapshot(none, PreferredAllocation.of(none, ReplicaAllocationPolicy.DISTRIBUTED));
    }

    private ResourceSnapshot snapshot(DeviceList list, PreferredAllocation preferences) {
        AllocationTableFactory allocator = recorder.allocator();
        return new ResourceSnapshot(
                list,
                allocator.table(resource, list),
                preferences,
                allocator.settings().allocate().preStart());
    }

    /** Returns the device list in force. */
    public DeviceList list() {
        return snapshot.list();
    }

    /** Replaces the device list. Called by one thread. */
    public void list(DeviceList next) {
        snapshot = snapshot(
                next,
                snapshot.preferences()
                        .with(next, recorder.allocator().settings().replicaPolicy()));
    }

    /** Rebuilds the table after a change of the allocator. Called by the thread that calls {@link #list(DeviceList)}. */
    void rebuildAllocations() {
        ResourceSnapshot before = snapshot;
        snapshot = snapshot(before.list(), before.preferences());
    }

    /** Answers Allocate; what it allocated is published by {@link #publishCollected}. */
    public AllocationResult allocate(List<List<String>> containers) {
        AllocationResult result = recorder.allocate(resource, snapshot.allocations(), containers, unpublished);
        if (result instanceof AllocationResult.Accepted) {
            containers.forEach(ids -> collectedDevices += ids.size());
        }
        return result;
    }

    /**
     * Ends a turn of collecting. Once there was no allocation in it, after a quarter of a second, or when a thousand or those
     * of eight thousand devices are collected, they are published as one input of the node's loop; returns whether none is
     * left.
     */
    public boolean publishCollected() {
        turns++;
        boolean flood = unpublished.size() > collectedBefore;
        collectedBefore = unpublished.size();
        if (flood && turns < MAX_TURNS && collectedBefore < MAX_COLLECTED && collectedDevices < MAX_DEVICES) {
            return false;
        }
        if (collectedBefore > 0) {
            recorder.publish(unpublished);
            unpublished.clear();
        }
        collectedBefore = 0;
        collectedDevices = 0;
        turns = 0;
        return true;
    }

    /** Whether the kubelet shall call PreStartContainer. */
    public boolean preStart() {
        return snapshot.preStart();
    }

    /** Answers PreStartContainer: the refusal when the container must not start; else empty. */
    public Optional<AllocationResult.Refused> preStart(List<String> ids) {
        return snapshot.allocations().refusal(ids, new HashSet<>());
    }

    /** Answers GetPreferredAllocation; never an error, or the kubelet would fail the pod. */
    public List<String> preferred(List<String> available, List<String> mustInclude, int size) {
        recorder.requestReceived();
        return snapshot.preferences().choose(available, mustInclude, size);
    }
}
