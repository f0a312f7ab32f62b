package io.gpufleet.allocation.model.holding;

/**
 * Unit that has one holder at a time: a whole device, or one replica of a shared device.
 *
 * @param deviceUuid UUID of the GPU or MIG device
 * @param replica replica number; 0 without sharing
 */
public record DeviceSlot(String deviceUuid, int replica) implements Comparable<DeviceSlot> {
    @Override
    public int compareTo(DeviceSlot other) {
        int byUuid = deviceUuid.compareTo(other.deviceUuid);
        return byUuid != 0 ? byUuid : Integer.compare(replica, other.replica);
    }
}
