package io.gpufleet.allocation.model.holding;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Part of a GPU that a device is, exactly: a share is 1/replicas, a MIG device has some of the compute slices of its GPU.
 *
 * @param numerator compute slices, at least 1; negative where time is taken off, more than the denominator for several GPUs
 * @param denominator compute slices of the GPU times replicas
 */
public record GpuFraction(int numerator, int denominator) {
    /** A whole GPU. */
    public static final GpuFraction WHOLE = new GpuFraction(1, 1);

    private static final Pattern PROFILE = Pattern.compile("(?:(\\d)c\\.)?(\\d)g\\..*");
    private static final int SLICES = 7;
    private static final int SLICES_OF_A30 = 4;

    /** The same part, taken off. */
    public GpuFraction negated() {
        return new GpuFraction(-numerator, denominator);
    }

    /** Part of a device by its MIG profile, empty for a whole GPU, and the number of replicas as which it is offered. */
    public static GpuFraction of(String shortModel, String migProfile, int replicas) {
        int share = Math.max(1, replicas);
        if (migProfile.isEmpty()) {
            return share == 1 ? WHOLE : new GpuFraction(1, share);
        }
        Matcher profile = PROFILE.matcher(migProfile);
        if (!profile.matches()) {
            return new GpuFraction(1, share);
        }
        String slices = profile.group(1) == null ? profile.group(2) : profile.group(1);
        int whole = shortModel.startsWith("A30") ? SLICES_OF_A30 : SLICES;
        return new GpuFraction(Math.clamp(Integer.parseInt(slices), 1, whole), whole * share);
    }
}
