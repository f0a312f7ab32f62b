package io.gpufleet.allocation.model.quota;

import io.gpufleet.allocation.model.scheduling.GpuPod;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.SequencedSet;
import java.util.function.UnaryOperator;

/** Pods of the cluster that request GPUs or a resource that may become known as one, by UID, with the time at which each was observed last. */
final class ObservedPods {
    private static final int MAX_DELETED_UIDS = 50_000;

    private record Observed(CountedPod pod, long nanos) {}

    private record Release(Instant at, String uid) {}

    private final Map<String, Observed> pods = new HashMap<>();
    private final SequencedSet<String> deletedUids = new LinkedHashSet<>();
    private final PriorityQueue<Release> releases = new PriorityQueue<>(Comparator.comparing(Release::at));

    Optional<CountedPod> get(String uid) {
        return Optional.ofNullable(pods.get(uid)).map(Observed::pod);
    }

    Collection<CountedPod> all() {
        return pods.values().stream().map(Observed::pod).toList();
    }

    boolean wasDeleted(String uid) {
        return deletedUids.contains(uid);
    }

    void put(CountedPod pod, long nanos) {
        Observed before = pods.put(pod.pod().uid(), new Observed(pod, nanos));
        Instant end = pod.pod().countsUntil();
        if (!end.equals(Instant.MAX)
                && (before == null || !before.pod().pod().countsUntil().equals(end))) {
            releases.add(new Release(end, pod.pod().uid()));
        }
    }

    /** True when the pod is known as it is: a list of all pods replaces none that did not change. */
    boolean seenAgain(GpuPod pod, long nanos) {
        Observed known = pods.get(pod.uid());
        if (known == null || !known.pod().pod().equals(pod)) {
            return false;
        }
        pods.put(pod.uid(), new Observed(known.pod(), nanos));
        return true;
    }

    /** Replaces a pod that is known; false when it is not. */
    boolean replace(CountedPod pod) {
        return pods.computeIfPresent(pod.pod().uid(), (_, known) -> new Observed(pod, known.nanos())) != null;
    }

    List<CountedPod> replaceAll(UnaryOperator<CountedPod> change) {
        List<CountedPod> changed = new ArrayList<>();
        pods.replaceAll((_, known) -> {
            CountedPod next = change.apply(known.pod());
            if (next.equals(known.pod())) {
                return known;
            }
            changed.add(next);
            return new Observed(next, known.nanos());
        });
        return changed;
    }

    void remove(String uid) {
        pods.remove(uid);
    }

    /** Removes a pod, and remembers that a late observation of it has no effect. */
    void deleted(String uid) {
        pods.remove(uid);
        deletedUids.add(uid);
        if (deletedUids.size() > MAX_DELETED_UIDS) {
            deletedUids.removeFirst();
        }
    }

    /** Removes the pods that were observed last before a monotonic time. */
    List<String> removeUnseen(long sinceNanos) {
        List<String> unseen = new ArrayList<>();
        pods.forEach((uid, known) -> {
            if (known.nanos() - sinceNanos < 0) {
                unseen.add(uid);
            }
        });
        unseen.forEach(pods::remove);
        return unseen;
    }

    /** Removes the pods whose grace period has passed. */
    List<String> removeReleased(Instant now) {
        List<String> released = new ArrayList<>();
        for (Release next = releases.peek(); next != null && !next.at().isAfter(now); next = releases.peek()) {
            releases.poll();
            Observed known = pods.get(next.uid());
            if (known != null && known.pod().pod().countsUntil().equals(next.at())) {
                pods.remove(next.uid());
                released.add(next.uid());
            }
        }
        return released;
    }
}
