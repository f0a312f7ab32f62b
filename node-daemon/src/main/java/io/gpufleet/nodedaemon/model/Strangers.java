package io.gpufleet.nodedaemon.model;

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
 * read at different times, so a process is told of only once several polls in a row agreed. Immutable.
 */
public final class Strangers {
    /** Nobody looked yet. */
    public static final Strangers NONE = new Strangers(Map.of());

    /** Polls come in quick succession after a fault, so their number alone proves nothing. */
    private static final Duration LASTS = Duration.ofSeconds(5);

    private static final Comparator<UnheldUse> ORDER =
            Comparator.comparing(UnheldUse::deviceUuid).thenComparing(UnheldUse::podUid);

    private final Map<Who, Sighting> seen;
    private final List<UnheldUse> unheld;

    private Strangers(Map<Who, Sighting> seen) {
        this.seen = Map.copyOf(seen);
        this.unheld = unheld(seen);
    }

    /** @param podUid empty outside of pods */
    private record Who(String gpuUuid, String deviceUuid, String podUid, int pid) {}

    private record Sighting(long sinceNanos, boolean told, Reading<Long> usedBytes) {
        Sighting again(Moment now, Reading<Long> bytes) {
            return new Sighting(sinceNanos, told || now.since(sinceNanos).compareTo(LASTS) >= 0, bytes);
        }
    }

    private enum Verdict {
        STRANGER,
        AT_HOME,
        /** Nobody can say: what was said before stands. */
        OPEN
    }

    /**
     * After a poll. What could not be looked at stays as it was.
     *
     * @param known UUIDs of the GPUs that the node has
     */
    public Strangers polled(List<Vitals> vitals, Holdings holdings, Set<String> known, Moment now) {
        var next = new HashMap<>(seen);
        next.keySet().removeIf(who -> !known.contains(who.gpuUuid()));
        for (Vitals its : vitals) {
            if (its.processes() instanceof Reading.Known<List<ComputeProcess>>(List<ComputeProcess> processes)) {
                next.keySet().removeIf(who -> who.gpuUuid().equals(its.gpuUuid()));
                processes.forEach(process -> judged(its.gpuUuid(), process, holdings, now)
                        .ifPresent(sighting -> next.put(who(its.gpuUuid(), process), sighting)));
            }
        }
        return new Strangers(next);
    }

    private Optional<Sighting> judged(String gpuUuid, ComputeProcess process, Holdings holdings, Moment now) {
        var before = Optional.ofNullable(seen.get(who(gpuUuid, process)));
        return switch (verdict(gpuUuid, process, holdings)) {
            case AT_HOME -> Optional.empty();
            case OPEN -> before;
            case STRANGER ->
                Optional.of(before.map(sighting -> sighting.again(now, process.usedBytes()))
                        .orElseGet(() -> new Sighting(now.nanos(), false, process.usedBytes())));
        };
    }

    private static Verdict verdict(String gpuUuid, ComputeProcess process, Holdings holdings) {
        return switch (process.owner()) {
            case ProcessOwner.Mps _ -> Verdict.AT_HOME;
            case ProcessOwner.Unknown _ -> Verdict.OPEN;
            case ProcessOwner.Host _ -> process.deviceUuid().isEmpty() ? Verdict.OPEN : Verdict.STRANGER;
            case ProcessOwner.Pod(String uid) -> ofPod(uid, gpuUuid, process.deviceUuid(), holdings);
        };
    }

    /** A GPU that is partitioned may be held as a whole, too. */
    private static Verdict ofPod(String uid, String gpuUuid, String deviceUuid, Holdings holdings) {
        if (deviceUuid.isEmpty() || !holdings.complete()) {
            return Verdict.OPEN;
        }
        List<Holder> holders = holdings.of(new HashSet<>(List.of(gpuUuid, deviceUuid)));
        if (holders.stream().anyMatch(holder -> holder.podUid().equals(uid))) {
            return Verdict.AT_HOME;
        }
        boolean maybe = holders.stream().anyMatch(holder -> holder.podUid().isEmpty())
                || holdings.holders().stream().anyMatch(holder -> holder.mayBeAnywhere(uid));
        return maybe ? Verdict.OPEN : Verdict.STRANGER;
    }

    private static Who who(String gpuUuid, ComputeProcess process) {
        String podUid = process.owner() instanceof ProcessOwner.Pod(String uid) ? uid : "";
        return new Who(gpuUuid, process.deviceUuid(), podUid, process.pid());
    }

    /** Whether it tells of other use than before; how much memory is used does not matter. */
    public boolean differsFrom(Strangers before) {
        return unheld.size() != before.unheld.size()
                || IntStream.range(0, unheld.size())
                        .anyMatch(i -> !unheld.get(i).sameUseAs(before.unheld.get(i)));
    }

    /** What lasted long enough to be told, by device and pod. */
    public List<UnheldUse> unheld() {
        return unheld;
    }

    private static List<UnheldUse> unheld(Map<Who, Sighting> seen) {
        var byUse = new TreeMap<UnheldUse, List<Reading<Long>>>(ORDER);
        seen.forEach((who, sighting) -> {
            if (sighting.told()) {
                var use = new UnheldUse(who.deviceUuid(), who.podUid(), 1, sighting.usedBytes());
                byUse.computeIfAbsent(use, _ -> new ArrayList<>()).add(sighting.usedBytes());
            }
        });
        return byUse.entrySet().stream()
                .map(entry -> new UnheldUse(
                        entry.getKey().deviceUuid(),
                        entry.getKey().podUid(),
                        entry.getValue().size(),
                        together(entry.getValue())))
                .toList();
    }

    private static Reading<Long> together(List<Reading<Long>> bytes) {
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
