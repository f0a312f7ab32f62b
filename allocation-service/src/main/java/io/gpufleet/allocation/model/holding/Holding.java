package io.gpufleet.allocation.model.holding;

/** A device and the container that holds it. */
public record Holding(Holder holder, HeldDevice device) {
    private static final int FIXED_BYTES = 32;

    /** A whole GPU that nobody holds. */
    public static Holding nobody(String gpuUuid, String shortModel) {
        return new Holding(
                new Holder("", "", "", "", ""), new HeldDevice("", new DeviceSlot(gpuUuid, 0), shortModel, 1, ""));
    }

    /** About how many bytes of a record it takes: its names. */
    public int bytes() {
        return FIXED_BYTES
                + holder.namespace().length()
                + holder.pod().length()
                + holder.podUid().length()
                + holder.container().length()
                + holder.resource().length()
                + device.id().length()
                + device.slot().deviceUuid().length()
                + device.shortModel().length()
                + device.migProfile().length();
    }
}
