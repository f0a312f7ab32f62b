package io.gpufleet.allocation.model.ledger;

/**
 * A device as its holder has it.
 *
 * @param id id as the kubelet knows it, {@code <uuid>} or {@code <uuid>::<n>}
 * @param slot what it occupies
 * @param shortModel short model name, for example {@code A100}
 * @param shareOf number of replicas that the device is offered as, at least 1
 * @param migProfile MIG profile, empty for a whole GPU
 */
public record HeldDevice(String id, DeviceSlot slot, String shortModel, int shareOf, String migProfile) {
    /** A share of nothing is read as the whole. */
    public HeldDevice {
        shareOf = Math.max(1, shareOf);
    }

    /** True when the other one costs the same: same model, share and profile. */
    public boolean pricedAs(HeldDevice other) {
        return shortModel.equals(other.shortModel) && shareOf == other.shareOf && migProfile.equals(other.migProfile);
    }
}
