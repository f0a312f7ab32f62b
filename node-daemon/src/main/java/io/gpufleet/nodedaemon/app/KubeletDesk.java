package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.AllocationAnswer;
import io.gpufleet.nodedaemon.model.Allocator;
import io.gpufleet.nodedaemon.model.DeviceList;
import io.gpufleet.nodedaemon.model.Moment;
import io.gpufleet.nodedaemon.model.preferred.PreferredAllocation;
import io.gpufleet.nodedaemon.model.preferred.Sharing;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Answers the kubelet from a snapshot: no lock, no wait, no disk, no Kafka. */
public final class KubeletDesk {
    private final Supplier<Moment> now;
    private final Counters counters;
    private final Consumer<Input> inbox;
    private volatile DeviceList list = new DeviceList(0, List.of());
    private volatile PreferredAllocation preferences = PreferredAllocation.of(list, Sharing.DISTRIBUTED);
    private volatile Allocator allocator;
    private volatile long lastAskedNanos;

    /** A desk with an empty list. */
    public KubeletDesk(Allocator allocator, Supplier<Moment> now, Counters counters, Consumer<Input> inbox) {
        this.allocator = allocator;
        this.now = now;
        this.counters = counters;
        this.inbox = inbox;
        this.lastAskedNanos = now.get().nanos() - 3_600_000_000_000L;
    }

    /** The list that is in force. */
    public DeviceList list() {
        return list;
    }

    /** Puts a list in force; one thread calls it. */
    public void list(DeviceList next) {
        list = next;
        preferences = preferences.with(next);
    }

    /** Puts other rules of answering in force, for example when device nodes appeared. */
    public void allocator(Allocator next) {
        allocator = next;
    }

    /** When the kubelet last asked for an allocation; its book is not to be read right after. */
    long lastAskedNanos() {
        return lastAskedNanos;
    }

    /** Answers Allocate. */
    public AllocationAnswer allocate(List<List<String>> containers) {
        long start = now.get().nanos();
        lastAskedNanos = start;
        AllocationAnswer answer = allocator.answer(list, containers);
        switch (answer) {
            case AllocationAnswer.Granted _ -> {
                long micros = (now.get().nanos() - start) / 1_000;
                counters.allocated(micros);
                containers.forEach(ids -> inbox.accept(new Input.Granted(ids, micros)));
            }
            case AllocationAnswer.Refused _ -> counters.refused();
        }
        return answer;
    }

    /** Answers PreStartContainer: why the container must not start; empty when it may. */
    public Optional<AllocationAnswer.Refused> preStart(List<String> ids) {
        return Allocator.refusal(list, ids, new HashSet<>());
    }

    /** Answers GetPreferredAllocation; never an error, or the kubelet would fail the pod. */
    public List<String> preferred(List<String> available, List<String> mustInclude, int size) {
        lastAskedNanos = now.get().nanos();
        return preferences.choose(available, mustInclude, size);
    }
}
