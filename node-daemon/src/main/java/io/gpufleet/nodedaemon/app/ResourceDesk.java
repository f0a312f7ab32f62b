package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.AllocationAnswer;
import io.gpufleet.nodedaemon.model.DeviceList;
import io.gpufleet.nodedaemon.model.GrantTable;
import io.gpufleet.nodedaemon.model.preferred.PreferredAllocation;
import io.gpufleet.nodedaemon.model.settings.ReplicaOrder;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;

/** Answers the kubelet's questions about one resource. */
public final class ResourceDesk {
    private final KubeletDesk desk;
    private final String resource;
    private volatile DeviceList list = new DeviceList(0, List.of());
    private volatile GrantTable grants;
    private volatile PreferredAllocation preferences = PreferredAllocation.of(list, ReplicaOrder.DISTRIBUTED);

    ResourceDesk(KubeletDesk desk, String resource) {
        this.desk = desk;
        this.resource = resource;
        this.grants = desk.allocator().table(resource, list);
    }

    /** The list that is in force. */
    public DeviceList list() {
        return list;
    }

    /** Puts a list in force; one thread calls it. */
    public void list(DeviceList next) {
        list = next;
        preferences = preferences.with(next, desk.allocator().settings().order());
        ruled();
    }

    /** Other rules of answering are in force; the thread of {@link #list(DeviceList)} calls it. */
    void ruled() {
        grants = desk.allocator().table(resource, list);
    }

    /** Answers Allocate. */
    public AllocationAnswer allocate(List<List<String>> containers) {
        return desk.allocate(resource, grants, containers);
    }

    /** Whether the kubelet is to call PreStartContainer. */
    public boolean preStart() {
        return desk.allocator().settings().allocate().preStart();
    }

    /** Answers PreStartContainer: why the container must not start; empty when it may. */
    public Optional<AllocationAnswer.Refused> preStart(List<String> ids) {
        return grants.refusal(ids, new HashSet<>());
    }

    /** Answers GetPreferredAllocation; never an error, or the kubelet would fail the pod. */
    public List<String> preferred(List<String> available, List<String> mustInclude, int size) {
        desk.asked();
        return preferences.choose(available, mustInclude, size);
    }
}
