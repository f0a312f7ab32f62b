package io.gpufleet.allocation.model.holding;

/**
 * A device with a holder.
 *
 * @param id id as the kubelet knows it, {@code <uuid>} or {@code <uuid>::<n>}
 * @param slot unit of the device that the holder has
 * @param shortModel short model name, for example {@code A100}
 * @param shareOf number of replicas that the device is offered as, at least 1
 * @param migProfile MIG profile, empty for a whole GPU
 */
public record HeldDevice(String id, DeviceSlot slot, String shortModel, int shareOf, String migProfile) {
    /** Reads 0 replicas as the whole device. */
    public HeldDevice {
        shareOf = Math.max(1, shareOf);
    }

    /** True when the other device counts alike: same model, share and profile. */
    public boolean countsLike(HeldDevice other) {
        return shortModel.equals(other.shortModel) && shareOf == other.shareOf && migProfile.equals(other.migProfile);
    }

    /** Part of a GPU that time on it counts as, with a sign: negative where an adjustment takes the time off. */
    public GpuFraction weight(int sign) {
        return sign < 0 ? fraction().negated() : fraction();
    }

    /** Part of a GPU that this is. */
    public GpuFraction fraction() {
        return GpuFraction.of(shortModel, migProfile, shareOf);
    }
}
