package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.AllocationAnswer;
import io.gpufleet.nodedaemon.model.Allocator;
import io.gpufleet.nodedaemon.model.DeviceList;
import io.gpufleet.nodedaemon.model.GrantTable;
import io.gpufleet.nodedaemon.model.Moment;
import io.gpufleet.nodedaemon.model.Offer;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Answers the kubelet from snapshots, one desk a resource: no lock, no wait, no disk, no Kafka. */
public final class KubeletDesk {
    private final Supplier<Moment> now;
    private final Counters counters;
    private final Consumer<Input> inbox;
    private final Map<String, ResourceDesk> resources = new ConcurrentHashMap<>();
    private volatile Allocator allocator;
    private volatile long lastAskedNanos;

    /** A desk without a list. */
    public KubeletDesk(Allocator allocator, Supplier<Moment> now, Counters counters, Consumer<Input> inbox) {
        this.allocator = allocator;
        this.now = now;
        this.counters = counters;
        this.inbox = inbox;
        this.lastAskedNanos = now.get().nanos() - 3_600_000_000_000L;
    }

    /** The desk of a resource; its list is empty until there is one. */
    public ResourceDesk resource(String name) {
        return resources.computeIfAbsent(name, _ -> new ResourceDesk(this, name));
    }

    /** Every device that is listed now, of all resources. */
    public List<Offer> offers() {
        return resources.values().stream()
                .flatMap(resource -> resource.list().devices().stream())
                .toList();
    }

    /** Puts lists in force; a resource that is not among them has an empty list from now on. One thread calls it. */
    public void lists(Map<String, DeviceList> next, long version) {
        next.forEach((name, list) -> resource(name).list(list));
        Set<String> emptied = Set.copyOf(resources.keySet());
        emptied.stream()
                .filter(name -> !next.containsKey(name))
                .filter(name -> !resource(name).list().devices().isEmpty())
                .forEach(name -> resource(name).list(new DeviceList(version, List.of())));
    }

    /** Puts other rules of answering in force, for example when device nodes appeared. */
    public void allocator(Allocator next) {
        allocator = next;
        resources.values().forEach(ResourceDesk::ruled);
    }

    /** The rules that are in force. */
    public Allocator allocator() {
        return allocator;
    }

    /** When the kubelet last asked for an allocation; its book is not to be read right after. */
    long lastAskedNanos() {
        return lastAskedNanos;
    }

    void asked() {
        lastAskedNanos = now.get().nanos();
    }

    AllocationAnswer allocate(String resource, GrantTable grants, List<List<String>> containers) {
        long start = now.get().nanos();
        lastAskedNanos = start;
        AllocationAnswer answer = grants.answer(containers);
        switch (answer) {
            case AllocationAnswer.Granted _ -> {
                long micros = (now.get().nanos() - start) / 1_000;
                counters.allocated(micros);
                containers.forEach(ids -> inbox.accept(new Input.Granted(resource, ids, micros)));
            }
            case AllocationAnswer.Refused _ -> counters.refused();
        }
        return answer;
    }
}
