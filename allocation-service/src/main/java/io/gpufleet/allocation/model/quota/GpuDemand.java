package io.gpufleet.allocation.model.quota;

import io.gpufleet.allocation.model.scheduling.GpuAmount;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/** Request of a pod, with the kinds of devices that it may get for it. */
public record GpuDemand(List<Part> parts) {
    /** Nothing. */
    static final GpuDemand NONE = new GpuDemand(List.of());

    /**
     * Devices of one resource.
     *
     * @param offers kinds of devices that the pod may get: one of them for each device
     */
    public record Part(String resource, int devices, Set<GpuOffer> offers) {
        /** Copies. */
        public Part {
            offers = Set.copyOf(offers);
        }

        private GpuAmount on(QuotaLimit limit) {
            GpuAmount largest = GpuAmount.ZERO;
            for (GpuOffer offer : offers) {
                if (limit.selector().matches(offer, true)) {
                    largest = largest.max(limit.unit() == QuotaLimit.Unit.DEVICES ? GpuAmount.ONE : offer.gpus());
                }
            }
            return largest.times(devices);
        }

        private boolean isAmbiguousOn(QuotaLimit limit) {
            return offers.stream().anyMatch(offer -> limit.selector().matches(offer, true))
                    && !offers.stream().allMatch(offer -> limit.selector().matches(offer, false));
        }

        /** The same for one device. */
        Part one() {
            return new Part(resource, 1, offers);
        }

        private Part atLeast(Part other) {
            Set<GpuOffer> both = new HashSet<>(offers);
            both.addAll(other.offers());
            return new Part(resource, Math.max(devices, other.devices()), both);
        }
    }

    /** Copies. */
    public GpuDemand {
        parts = List.copyOf(parts);
    }

    /** True when the pod requests no GPU. */
    public boolean isEmpty() {
        return parts.isEmpty();
    }

    /** True for the devices of a ResourceClaim. */
    boolean isClaim() {
        return parts.stream().anyMatch(part -> part.resource().contains(GpuOffer.DEVICE_CLASS));
    }

    /** Amount that counts on a limit: where the pod may get several kinds of devices, the largest of them. */
    public GpuAmount on(QuotaLimit limit) {
        GpuAmount sum = GpuAmount.ZERO;
        for (Part part : parts) {
            sum = sum.plus(part.on(limit));
        }
        return sum;
    }

    /** True when it depends on the node whether a device counts on the limit. */
    boolean isAmbiguousOn(QuotaLimit limit) {
        return parts.stream().anyMatch(part -> part.isAmbiguousOn(limit));
    }

    /** Short models that the pod may get. */
    Set<String> models() {
        Set<String> models = new TreeSet<>();
        parts.forEach(part -> part.offers().forEach(offer -> models.add(offer.model())));
        return models;
    }

    /** Devices by resource. */
    SortedMap<String, Integer> byResource() {
        SortedMap<String, Integer> devices = new TreeMap<>();
        parts.forEach(part -> devices.put(part.resource(), part.devices()));
        return devices;
    }

    /** A demand that counts at least as much as both. */
    GpuDemand atLeast(GpuDemand other) {
        List<Part> merged = new ArrayList<>(other.parts());
        for (Part part : parts) {
            Part same = merged.stream()
                    .filter(one -> one.resource().equals(part.resource()))
                    .findFirst()
                    .orElse(part);
            merged.remove(same);
            merged.add(part.atLeast(same));
        }
        return new GpuDemand(merged);
    }
}
