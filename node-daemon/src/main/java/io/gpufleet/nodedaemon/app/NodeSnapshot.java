package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.allocation.OfferedDevices;
import io.gpufleet.nodedaemon.model.device.DeviceInventory;
import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.fault.OpenFault;
import io.gpufleet.nodedaemon.model.holders.Holdings;
import io.gpufleet.nodedaemon.model.holders.UnallocatedUse;
import java.util.List;

/**
 * The devices at one instant, for metrics and reports. Immutable; reading it calls no driver.
 *
 * @param devices every known GPU, and the last scan
 * @param samples the newest samples; empty while the driver does not respond
 * @param sampledNanos time of the samples, by the monotonic clock
 * @param holdings holders of devices
 * @param unallocated use of devices by processes without an allocation
 * @param offers the devices as reported to the kubelet
 * @param openFaults every open fault
 */
public record NodeSnapshot(
        DeviceInventory devices,
        List<GpuSample> samples,
        long sampledNanos,
        Holdings holdings,
        List<UnallocatedUse> unallocated,
        OfferedDevices offers,
        List<OpenFault> openFaults) {
    /** Copies the lists. */
    public NodeSnapshot {
        samples = List.copyOf(samples);
        unallocated = List.copyOf(unallocated);
        openFaults = List.copyOf(openFaults);
    }
}
