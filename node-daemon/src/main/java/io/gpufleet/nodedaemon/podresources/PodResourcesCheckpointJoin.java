package io.gpufleet.nodedaemon.podresources;

import io.gpufleet.nodedaemon.model.holders.Holder;
import io.gpufleet.nodedaemon.model.holders.Holdings;
import io.gpufleet.nodedaemon.podresources.KubeletCheckpoint.PodDevicesEntry;
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
 * Joins the podresources response (names, no UIDs, no ordinary init containers) with the kubelet's checkpoint (UIDs and
 * every container, no names).
 *
 * @param resourceFilter selects our resources
 * @param checkpoint the checkpoint, read after the podresources response
 * @param stableEntries its entries that were also there before the call: others may belong to another pod of that name
 * @param kubeletReady whether the kubelet has been up long enough to know its pods
 */
record PodResourcesCheckpointJoin(
        Predicate<String> resourceFilter,
        KubeletCheckpoint checkpoint,
        List<PodDevicesEntry> stableEntries,
        boolean kubeletReady) {
    private static final Comparator<Holder> ORDER = Comparator.comparing(Holder::namespace)
            .thenComparing(Holder::pod)
            .thenComparing(Holder::container)
            .thenComparing(Holder::resource);

    Holdings join(ListPodResourcesResponse response) {
        var holders = new ArrayList<Holder>();
        for (PodResources pod : response.getPodResourcesList()) {
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
        var known =
                holders.stream().map(holder -> holder.withPodUid(uid)).collect(Collectors.toCollection(ArrayList::new));
        known.addAll(initContainerHolders(pod, uid, holders));
        return known;
    }

    /** The only UID whose containers have this pod's devices; empty if there is none or several. */
    private String podUid(List<Holder> holders) {
        Set<String> uids = Set.of();
        for (Holder holder : holders) {
            Set<String> candidates = stableEntries.stream()
                    .filter(entry -> entry.container().equals(holder.container())
                            && entry.resource().equals(holder.resource())
                            && entry.deviceIds().containsAll(holder.deviceIds()))
                    .map(PodDevicesEntry::podUid)
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

    /** Devices that only init containers of the pod hold; those passed on to its containers belong to them. */
    private List<Holder> initContainerHolders(PodResources pod, String uid, List<Holder> listed) {
        Set<String> containerIds = ids(listed);
        var initHolders = new ArrayList<Holder>();
        for (PodDevicesEntry entry : stableEntries) {
            List<String> remaining = entry.deviceIds().stream()
                    .filter(id -> !containerIds.contains(id))
                    .sorted()
                    .toList();
            if (entry.podUid().equals(uid) && !remaining.isEmpty()) {
                initHolders.add(new Holder(
                        pod.getNamespace(), pod.getName(), uid, entry.container(), entry.resource(), remaining));
            }
        }
        return initHolders;
    }

    private static Set<String> ids(Collection<Holder> holders) {
        return holders.stream().flatMap(holder -> holder.deviceIds().stream()).collect(Collectors.toSet());
    }

    /** Ids by resource; the kubelet lists them per NUMA node, and those of claims separately. */
    private SortedMap<String, TreeSet<String>> byResource(ContainerResources container) {
        var byResource = new TreeMap<String, TreeSet<String>>();
        container.getDevicesList().stream()
                .filter(devices -> resourceFilter.test(devices.getResourceName()) && devices.getDeviceIdsCount() > 0)
                .forEach(devices -> byResource
                        .computeIfAbsent(devices.getResourceName(), _ -> new TreeSet<>())
                        .addAll(devices.getDeviceIdsList()));
        container.getDynamicResourcesList().stream()
                .flatMap(claim -> claim.getClaimResourcesList().stream())
                .filter(claimed -> claimed.getDriverName().equals(Holder.DRA_DRIVER))
                .forEach(claimed -> byResource
                        .computeIfAbsent(Holder.DRA_DRIVER, _ -> new TreeSet<>())
                        .add(claimed.getDeviceName()));
        return byResource;
    }

    /**
     * After its start a kubelet has its checkpoint before it knows its pods. Later, pods that are only in the checkpoint
     * have ended: it is not rewritten at their end. Claims are not in this checkpoint.
     */
    private boolean isComplete(List<Holder> holders) {
        Set<String> held = ids(holders.stream()
                .filter(holder -> !holder.resource().equals(Holder.DRA_DRIVER))
                .toList());
        Set<String> inCheckpoint = checkpoint.deviceIds();
        return checkpoint.readable()
                && inCheckpoint.containsAll(held)
                && (kubeletReady || held.containsAll(inCheckpoint));
    }
}
