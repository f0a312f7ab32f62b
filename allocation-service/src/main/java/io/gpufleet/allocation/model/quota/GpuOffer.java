package io.gpufleet.allocation.model.quota;

import io.gpufleet.allocation.model.holding.GpuFraction;
import io.gpufleet.allocation.model.scheduling.GpuAmount;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Kind of device that a pod may get for a resource.
 *
 * @param resource empty where it is not known what the node offers: any resource
 * @param model short name; {@link #UNKNOWN} where it is not known
 * @param product product name with dashes, as in the label {@code nvidia.com/gpu.product}; {@link #UNKNOWN} likewise
 * @param migProfile empty for a whole GPU
 * @param replicas number of pods that share a device; 1 without sharing
 */
public record GpuOffer(String resource, String model, String product, String migProfile, int replicas) {
    /** A model or product that is not known yet: it may be any. */
    public static final String UNKNOWN = "?";

    /** Part of the name of a resource that stands for a DeviceClass. */
    public static final String DEVICE_CLASS = ".deviceclass.resource.k8s.io/";

    private static final Pattern MIG_RESOURCE = Pattern.compile(".*/mig-(.+?)(?:\\.shared)?");

    /** A device of which the model is not known. */
    static GpuOffer unknown() {
        return new GpuOffer("", UNKNOWN, UNKNOWN, "", 1);
    }

    /** Part of a GPU that one device is. */
    GpuAmount gpus() {
        GpuFraction part = GpuFraction.of(model, migProfile, replicas);
        return GpuAmount.of(part.numerator(), part.denominator());
    }

    /** The same GPU, offered as a resource that no node offers so far: a MIG profile is told by the name of the resource. */
    GpuOffer as(String other) {
        Matcher mig = MIG_RESOURCE.matcher(other);
        return new GpuOffer(
                other, model, product, mig.matches() ? mig.group(1) : resource.isEmpty() ? migProfile : "", 1);
    }
}
