package io.gpufleet.nodedaemon.model.holders;

import io.gpufleet.nodedaemon.model.device.ComputeProcess;
import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.device.Moment;
import io.gpufleet.nodedaemon.model.device.ProcessOwner;
import io.gpufleet.nodedaemon.model.device.Reading;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * Processes on devices that their pod does not hold, or that belong to no pod, over the polls. Holders and processes are
 * read at different times, so a process is reported only after several consecutive polls agree. Immutable.
 */
public final class UnallocatedProcesses {
    /** No poll yet. */
    public static final UnallocatedProcesses NONE = new UnallocatedProcesses(Map.of());

    /** Polls follow each other quickly after a fault, so their number alone proves nothing. */
    private static final Duration MIN_DURATION = Duration.ofSeconds(5);

    private static final Comparator<UnallocatedUse> ORDER =
            Comparator.comparing(UnallocatedUse::deviceUuid).thenComparing(UnallocatedUse::podUid);

    private final Map<ProcessKey, ProcessObservation> observed;
    private final List<UnallocatedUse> unallocated;

    private UnallocatedProcesses(Map<ProcessKey, ProcessObservation> seen) {
        this.observed = Map.copyOf(seen);
        this.unallocated = unallocated(seen);
    }

    /** @param podUid empty outside of pods */
    private record ProcessKey(String gpuUuid, String deviceUuid, String podUid, int pid) {}

    private record ProcessObservation(long sinceNanos, boolean reported, Reading<Long> usedBytes) {
        ProcessObservation repeated(Moment now, Reading<Long> bytes) {
            return new ProcessObservation(
                    sinceNanos, reported || now.since(sinceNanos).compareTo(MIN_DURATION) >= 0, bytes);
        }
    }

    private enum Classification {
        UNALLOCATED,
        ALLOCATED,
        /** Unknown owner: the previous result stays. */
        UNDECIDED
    }

    /**
     * Returns the state after a poll. A device that could not be read keeps its state.
     *
     * @param known UUIDs of the GPUs that the node has
     */
    public UnallocatedProcesses polled(List<GpuSample> sample, Holdings holdings, Set<String> known, Moment now) {
        var next = new HashMap<>(observed);
        next.keySet().removeIf(who -> !known.contains(who.gpuUuid()));
        for (GpuSample its : sample) {
            if (its.processes() instanceof Reading.Known<List<ComputeProcess>>(List<ComputeProcess> processes)) {
                next.keySet().removeIf(who -> who.gpuUuid().equals(its.gpuUuid()));
                processes.forEach(process -> classified(its.gpuUuid(), process, holdings, now)
                        .ifPresent(observation -> next.put(keyOf(its.gpuUuid(), process), observation)));
            }
        }
        return new UnallocatedProcesses(next);
    }

    private Optional<ProcessObservation> classified(
            String gpuUuid, ComputeProcess process, Holdings holdings, Moment now) {
        var before = Optional.ofNullable(observed.get(keyOf(gpuUuid, process)));
        return switch (classify(gpuUuid, process, holdings)) {
            case ALLOCATED -> Optional.empty();
            case UNDECIDED -> before;
            case UNALLOCATED ->
                Optional.of(before.map(observation -> observation.repeated(now, process.usedBytes()))
                        .orElseGet(() -> new ProcessObservation(now.nanos(), false, process.usedBytes())));
        };
    }

    private static Classification classify(String gpuUuid, ComputeProcess process, Holdings holdings) {
        return switch (process.owner()) {
            case ProcessOwner.Mps _ -> Classification.ALLOCATED;
            case ProcessOwner.Unknown _ -> Classification.UNDECIDED;
            case ProcessOwner.Host _ ->
                process.deviceUuid().isEmpty() ? Classification.UNDECIDED : Classification.UNALLOCATED;
            case ProcessOwner.Pod(String uid) -> classifyPod(uid, gpuUuid, process.deviceUuid(), holdings);
        };
    }

    /** A partitioned GPU may also be held as a whole. */
    private static Classification classifyPod(String uid, String gpuUuid, String deviceUuid, Holdings holdings) {
        if (deviceUuid.isEmpty() || !holdings.complete()) {
            return Classification.UNDECIDED;
        }
        List<Holder> holders = holdings.of(new HashSet<>(List.of(gpuUuid, deviceUuid)));
        if (holders.stream().anyMatch(holder -> holder.podUid().equals(uid))) {
            return Classification.ALLOCATED;
        }
        boolean maybe = holders.stream().anyMatch(holder -> holder.podUid().isEmpty())
                || holdings.holders().stream().anyMatch(holder -> holder.mayHoldAnyDevice(uid));
        return maybe ? Classification.UNDECIDED : Classification.UNALLOCATED;
    }

    private static ProcessKey keyOf(String gpuUuid, ComputeProcess process) {
        String podUid = process.owner() instanceof ProcessOwner.Pod(String uid) ? uid : "";
        return new ProcessKey(gpuUuid, process.deviceUuid(), podUid, process.pid());
    }

    /** Whether the reported use differs from before, apart from the amount of memory. */
    public boolean differsFrom(UnallocatedProcesses before) {
        return unallocated.size() != before.unallocated.size()
                || IntStream.range(0, unallocated.size())
                        .anyMatch(i -> !unallocated.get(i).sameUseAs(before.unallocated.get(i)));
    }

    /** Returns the use that lasted long enough to be reported, by device and pod. */
    public List<UnallocatedUse> unallocated() {
        return unallocated;
    }

    private static List<UnallocatedUse> unallocated(Map<ProcessKey, ProcessObservation> seen) {
        var byUse = new TreeMap<UnallocatedUse, List<Reading<Long>>>(ORDER);
        seen.forEach((who, observation) -> {
            if (observation.reported()) {
                var use = new UnallocatedUse(who.deviceUuid(), who.podUid(), 1, observation.usedBytes());
                byUse.computeIfAbsent(use, _ -> new ArrayList<>()).add(observation.usedBytes());
            }
        });
        return byUse.entrySet().stream()
                .map(entry -> new UnallocatedUse(
                        entry.getKey().deviceUuid(),
                        entry.getKey().podUid(),
                        entry.getValue().size(),
                        sum(entry.getValue())))
                .toList();
    }

    private static Reading<Long> sum(List<Reading<Long>> bytes) {
        long sum = 0;
        for (Reading<Long> one : bytes) {
            switch (one) {
                case Reading.Known<Long>(Long value) -> sum += value;
                case Reading.Unavailable<Long> unknown -> {
                    return unknown;
                }
            }
        }
        return new Reading.Known<>(sum);
    }
}
