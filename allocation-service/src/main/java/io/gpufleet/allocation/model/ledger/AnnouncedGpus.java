package io.gpufleet.allocation.model.ledger;

import io.gpufleet.allocation.model.holding.HeldDevice;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * GPUs of a node, as its daemon announced them.
 *
 * @param offers kinds of devices that pods can request
 * @param migParents UUID of the physical GPU by UUID of the MIG device
 */
public record AnnouncedGpus(List<GpuModel> models, SortedSet<Offer> offers, Map<String, String> migParents) {
    /**
     * Kind of device that pods can request by the name of a resource.
     *
     * @param migProfile empty for a whole GPU
     * @param replicas number of replicas of each device; 1 without sharing
     */
    public record Offer(String resource, String shortModel, String migProfile, int replicas)
            implements Comparable<Offer> {
        private static final Comparator<Offer> ORDER = Comparator.comparing(Offer::resource)
                .thenComparing(Offer::shortModel)
                .thenComparing(Offer::migProfile)
                .thenComparingInt(Offer::replicas);

        @Override
        public int compareTo(Offer other) {
            return ORDER.compare(this, other);
        }
    }

    /** A node without announced GPUs. */
    public static final AnnouncedGpus NONE = new AnnouncedGpus(List.of(), new TreeSet<>(), Map.of());

    /** Copies, sorted. */
    public AnnouncedGpus {
        models = List.copyOf(models);
        offers = Collections.unmodifiableSortedSet(new TreeSet<>(offers));
        migParents = Collections.unmodifiableMap(new TreeMap<>(migParents));
    }

    /** Product of a device as its label has it; empty where several models of the node may be meant. */
    public String productOf(HeldDevice device) {
        String gpu = gpuOf(device.slot().deviceUuid());
        List<String> products = models.stream()
                .filter(model -> model.uuids().isEmpty()
                        ? model.shortModel().equals(device.shortModel())
                        : model.uuids().contains(gpu))
                .map(GpuModel::product)
                .toList();
        return products.size() == 1 ? products.getFirst() : "";
    }

    /** UUID of the physical GPU of a GPU or MIG device. */
    public String gpuOf(String deviceUuid) {
        return migParents.getOrDefault(deviceUuid, deviceUuid);
    }

    /** Names of the resources that pods can request. */
    public Set<String> resources() {
        return offers.stream().map(Offer::resource).collect(Collectors.toUnmodifiableSet());
    }
}
