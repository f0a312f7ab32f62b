package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.Holdings;
import io.gpufleet.nodedaemon.model.HostNodes;
import io.gpufleet.nodedaemon.model.KernelReport;
import io.gpufleet.nodedaemon.model.Look;
import io.gpufleet.nodedaemon.model.Overlay;
import io.gpufleet.nodedaemon.model.SettingsChoice;
import io.gpufleet.nodedaemon.model.SideStates;
import io.gpufleet.nodedaemon.model.Sign;
import io.gpufleet.nodedaemon.model.Vitals;
import java.util.List;

/** What the writer of the node's state is told. */
public sealed interface Input {
    /** The devices were looked at. */
    record Looked(Look look) implements Input {}

    /** Something was noticed between two looks. */
    record Noticed(Sign sign) implements Input {}

    /** The kernel log tells of a fault. */
    record KernelSaid(KernelReport report) implements Input {}

    /** The devices were asked how they are. */
    record Polled(List<Vitals> vitals, boolean publish) implements Input {
        /** Copies the list. */
        public Polled {
            vitals = List.copyOf(vitals);
        }
    }

    /** An operator says on the node itself whether verdicts are to be ignored. */
    record VerdictsIgnored(boolean ignored) implements Input {}

    /** What the verdicts allow changed. */
    record OverlayRead(Overlay overlay) implements Input {}

    /** The kubelet told who holds what. */
    record HoldingsSeen(Holdings holdings) implements Input {}

    /** It did not; whether because it is asked too often. */
    record HoldingsUnknown(String reason, boolean tooOften) implements Input {}

    /** The kubelet's checkpoint changed: somebody got or lost a device. */
    record CheckpointChanged() implements Input {}

    /** Other settings are written for the node; which of them hold may depend on its GPUs. */
    record SettingsChosen(SettingsChoice choice) implements Input {}

    /** The device nodes that the host has are other than they were. */
    record HostNodesFound(HostNodes nodes) implements Input {}

    /** What programs beside the daemon say of themselves. */
    record SidesSaid(SideStates sides) implements Input {}

    /** Allocate was granted. */
    record Granted(String resource, List<String> deviceIds, long micros) implements Input {
        /** Copies the list. */
        public Granted {
            deviceIds = List.copyOf(deviceIds);
        }
    }

    /** What had piled up while the broker was away is sent; whether something of it was lost. */
    record BacklogSent(boolean lost) implements Input {}

    /** Everything that was handed in before is dealt with, and the kubelet has been shown what follows from it. */
    record Fence(Runnable reached) implements Input {}

    /** Nothing happened, but a timer may be due. */
    record Tick() implements Input {}
}
