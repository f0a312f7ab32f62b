package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.allocation.CompanionStatus;
import io.gpufleet.nodedaemon.model.allocation.HostDeviceNodes;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.fault.DeviceEvent;
import io.gpufleet.nodedaemon.model.fault.KernelLogFault;
import io.gpufleet.nodedaemon.model.fault.Overlay;
import io.gpufleet.nodedaemon.model.holders.Holdings;
import io.gpufleet.nodedaemon.model.settings.SettingsSelector;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Input of the node loop. */
public sealed interface NodeLoopInput {
    /** The devices were scanned. */
    record DevicesScanned(DeviceScan scan) implements NodeLoopInput {}

    /** A device source reported an event. */
    record DeviceEventReceived(DeviceEvent event) implements NodeLoopInput {}

    /** The kernel log reported a fault. */
    record KernelFaultLogged(KernelLogFault fault) implements NodeLoopInput {}

    /** The devices were polled; published as telemetry or not. */
    record DevicesPolled(List<GpuSample> samples, boolean publish) implements NodeLoopInput {
        /** Copies the list. */
        public DevicesPolled {
            samples = List.copyOf(samples);
        }
    }

    /** An operator switched on the node itself whether verdicts are ignored. */
    record VerdictsIgnored(boolean ignored) implements NodeLoopInput {}

    /** The central verdict changed. */
    record OverlayChanged(Overlay overlay) implements NodeLoopInput {}

    /** The kubelet listed the holders. */
    record HoldingsListed(Holdings holdings) implements NodeLoopInput {}

    /** The kubelet did not list the holders; whether for its rate limit. */
    record HoldingsUnknown(String reason, boolean rateLimited) implements NodeLoopInput {}

    /** The kubelet's checkpoint changed: a container got or released a device. */
    record CheckpointChanged() implements NodeLoopInput {}

    /** The node's settings changed; which of them apply may depend on its GPUs. */
    record SettingsChanged(SettingsSelector selector) implements NodeLoopInput {}

    /** The host's device nodes changed. */
    record HostDeviceNodesChanged(HostDeviceNodes nodes) implements NodeLoopInput {}

    /** Other device nodes are missing on the host and could not be made; why, by path in a container. */
    record DeviceNodesMissing(Map<String, String> reasons) implements NodeLoopInput {
        /** Copies the map. */
        public DeviceNodesMissing {
            reasons = Map.copyOf(reasons);
        }
    }

    /** The status of the companion programs changed. */
    record CompanionStatusChanged(CompanionStatus status) implements NodeLoopInput {}

    /** An operator removed GPUs from those that the node should have, by UUID or serial number. */
    record GpusForgotten(Set<String> names) implements NodeLoopInput {
        /** Copies the set. */
        public GpusForgotten {
            names = Set.copyOf(names);
        }
    }

    /** Allocate calls succeeded, one allocation for each container. */
    record DevicesAllocated(List<Allocation> allocations) implements NodeLoopInput {
        /** Copies the list. */
        public DevicesAllocated {
            allocations = List.copyOf(allocations);
        }

        /** Devices that a container got, and the duration of the call. */
        public record Allocation(String resource, List<String> deviceIds, long micros) {
            /** Copies the list. */
            public Allocation {
                deviceIds = List.copyOf(deviceIds);
            }
        }
    }

    /** The backlog of an outage of the broker was sent; whether a part of it was lost. */
    record BacklogSent(boolean lost) implements NodeLoopInput {}

    /** Runs once all earlier inputs were handled and the resulting device lists published. */
    record Barrier(Runnable reached) implements NodeLoopInput {}

    /** No input; timers may be due. */
    record Tick() implements NodeLoopInput {}
}
