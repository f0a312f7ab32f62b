package io.gpufleet.nodedaemon.podresources;

import io.gpufleet.nodedaemon.model.Holder;
import io.gpufleet.nodedaemon.model.Holdings;
import io.gpufleet.nodedaemon.podresources.KubeletCheckpoint.Entry;
import io.gpufleet.proto.kubelet.podresources.ContainerResources;
import io.gpufleet.proto.kubelet.podresources.ListPodResourcesResponse;
import io.gpufleet.proto.kubelet.podresources.PodResources;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Joins what podresources tells (names, no UIDs, no ordinary init containers) with what the kubelet's checkpoint tells
 * (UIDs and every container, no names).
 *
 * @param ours which resources are
 * @param book what the checkpoint said after podresources had answered
 * @param certain what it said before, too: an entry that came or went meanwhile may belong to another pod of the name
 * @param settled whether the kubelet has been up long enough to know its pods
 */
record HolderJoin(Predicate<String> ours, KubeletCheckpoint book, List<Entry> certain, boolean settled) {
    private static final Comparator<Holder> ORDER = Comparator.comparing(Holder::namespace)
            .thenComparing(Holder::pod)
            .thenComparing(Holder::container)
            .thenComparing(Holder::resource);

    Holdings join(ListPodResourcesResponse answer) {
        var holders = new ArrayList<Holder>();
        for (PodResources pod : answer.getPodResourcesList()) {
            holders.addAll(holders(pod));
        }
        holders.sort(ORDER);
        return new Holdings(holders, isComplete(holders));
    }

    private List<Holder> holders(PodResources pod) {
        var holders = new ArrayList<Holder>();
        for (ContainerResources container : pod.getContainersList()) {
            byResource(container)
                    .forEach((resource, ids) -> holders.add(new Holder(
                            pod.getNamespace(), pod.getName(), "", container.getName(), resource, List.copyOf(ids))));
        }
        String uid = podUid(holders);
        if (uid.isEmpty()) {
            return holders;
        }
        var known = holders.stream().map(holder -> holder.of(uid)).collect(Collectors.toCollection(ArrayList::new));
        known.addAll(ofInitContainers(pod, uid, holders));
        return known;
    }

    /** The one UID whose containers have what this pod's containers have; empty where none or several have. */
    private String podUid(List<Holder> holders) {
        Set<String> uids = Set.of();
        for (Holder holder : holders) {
            Set<String> candidates = certain.stream()
                    .filter(entry -> entry.container().equals(holder.container())
                            && entry.resource().equals(holder.resource())
                            && entry.deviceIds().containsAll(holder.deviceIds()))
                    .map(Entry::podUid)
                    .collect(Collectors.toCollection(HashSet::new));
            if (!uids.isEmpty() && !candidates.isEmpty()) {
                candidates.retainAll(uids);
                if (candidates.isEmpty()) {
                    return "";
                }
            }
            uids = candidates.isEmpty() ? uids : candidates;
        }
        return uids.size() == 1 ? uids.iterator().next() : "";
    }

    /** Devices that only an init container of the pod was given; those that its containers took over are theirs. */
    private List<Holder> ofInitContainers(PodResources pod, String uid, List<Holder> listed) {
        Set<String> theirs = ids(listed);
        var more = new ArrayList<Holder>();
        for (Entry entry : certain) {
            List<String> rest = entry.deviceIds().stream()
                    .filter(id -> !theirs.contains(id))
                    .sorted()
                    .toList();
            if (entry.podUid().equals(uid) && !rest.isEmpty()) {
                more.add(new Holder(pod.getNamespace(), pod.getName(), uid, entry.container(), entry.resource(), rest));
            }
        }
        return more;
    }

    private static Set<String> ids(Collection<Holder> holders) {
        return holders.stream().flatMap(holder -> holder.deviceIds().stream()).collect(Collectors.toSet());
    }

    /** Ids by resource; the kubelet tells one NUMA node after the other, and what a claim has apart. */
    private SortedMap<String, TreeSet<String>> byResource(ContainerResources container) {
        var byResource = new TreeMap<String, TreeSet<String>>();
        container.getDevicesList().stream()
                .filter(devices -> ours.test(devices.getResourceName()) && devices.getDeviceIdsCount() > 0)
                .forEach(devices -> byResource
                        .computeIfAbsent(devices.getResourceName(), _ -> new TreeSet<>())
                        .addAll(devices.getDeviceIdsList()));
        container.getDynamicResourcesList().stream()
                .flatMap(claim -> claim.getClaimResourcesList().stream())
                .filter(given -> given.getDriverName().equals(Holder.DRA_DRIVER))
                .forEach(given -> byResource
                        .computeIfAbsent(Holder.DRA_DRIVER, _ -> new TreeSet<>())
                        .add(given.getDeviceName()));
        return byResource;
    }

    /**
     * A kubelet that has just started knows its checkpoint before it knows its pods. Later, what only the checkpoint
     * knows are pods that ended: it is not written anew when they do. Claims stand in another book.
     */
    private boolean isComplete(List<Holder> holders) {
        Set<String> held = ids(holders.stream()
                .filter(holder -> !holder.resource().equals(Holder.DRA_DRIVER))
                .toList());
        Set<String> inBook = book.deviceIds();
        return book.readable() && inBook.containsAll(held) && (settled || held.containsAll(inBook));
    }
}
