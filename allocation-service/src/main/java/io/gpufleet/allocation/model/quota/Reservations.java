package io.gpufleet.allocation.model.quota;

import io.gpufleet.allocation.model.scheduling.GpuPod;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Admitted pods that were not observed yet, by UID, oldest first; those without a UID are found by their name. */
final class Reservations {
    private final Map<String, CountedPod> byUid = new LinkedHashMap<>();
    private final Map<String, Set<String>> uidsByName = new HashMap<>();

    Collection<CountedPod> all() {
        return Collections.unmodifiableCollection(byUid.values());
    }

    Optional<CountedPod> get(String uid) {
        return Optional.ofNullable(byUid.get(uid));
    }

    boolean contains(String uid) {
        return byUid.containsKey(uid);
    }

    void put(CountedPod pod) {
        remove(pod.pod().uid());
        byUid.put(pod.pod().uid(), pod);
        uidsByName
                .computeIfAbsent(name(pod.pod()), _ -> new LinkedHashSet<>())
                .add(pod.pod().uid());
    }

    /** Replaces a reservation in its place. */
    void replace(CountedPod pod) {
        byUid.replace(pod.pod().uid(), pod);
    }

    Optional<CountedPod> remove(String uid) {
        CountedPod removed = byUid.remove(uid);
        if (removed != null) {
            uidsByName.computeIfPresent(name(removed.pod()), (_, uids) -> {
                uids.remove(uid);
                return uids.isEmpty() ? null : uids;
            });
        }
        return Optional.ofNullable(removed);
    }

    /** Reservation of a request for a pod of the same name: only one of them can become a pod. */
    Optional<CountedPod> ofSameName(GpuPod pod) {
        return pod.name().isEmpty()
                ? Optional.empty()
                : uidsByName.getOrDefault(name(pod), Set.of()).stream()
                        .map(byUid::get)
                        .findFirst();
    }

    /** Removes the reservation from which an observed pod was created. */
    Optional<CountedPod> consume(GpuPod pod) {
        if (byUid.containsKey(pod.uid())) {
            return remove(pod.uid());
        }
        return firstWithoutUid(pod.namespace() + "/" + pod.name())
                .or(() -> pod.generateName().isEmpty()
                        ? Optional.empty()
                        : firstWithoutUid(pod.namespace() + "/" + pod.generateName() + "*"))
                .flatMap(this::remove);
    }

    private Optional<String> firstWithoutUid(String name) {
        return uidsByName.getOrDefault(name, Set.of()).stream()
                .filter(uid -> {
                    CountedPod reserved = byUid.get(uid);
                    return reserved != null && !reserved.pod().uidKnown();
                })
                .findFirst();
    }

    /** Removes those that were made before a monotonic time. */
    List<CountedPod> removeBefore(long nanos) {
        List<CountedPod> due = new ArrayList<>();
        for (CountedPod pod : byUid.values()) {
            if (pod.reservedAtNanos() - nanos >= 0) {
                break;
            }
            due.add(pod);
        }
        due.forEach(pod -> remove(pod.pod().uid()));
        return due;
    }

    /** True when one was made before a monotonic time. */
    boolean hasBefore(long nanos) {
        return !byUid.isEmpty() && byUid.values().iterator().next().reservedAtNanos() - nanos < 0;
    }

    private static String name(GpuPod pod) {
        return pod.displayName();
    }
}
