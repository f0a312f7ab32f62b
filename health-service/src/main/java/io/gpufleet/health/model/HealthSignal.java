package io.gpufleet.health.model;

import io.gpufleet.health.model.device.Device;
import io.gpufleet.health.model.drain.DrainProgress;
import io.gpufleet.health.model.drain.Holdings;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.fault.FaultReport;
import io.gpufleet.health.model.remediation.Remediation;
import io.gpufleet.health.model.remediation.RemediationProgress;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/** Input of {@link HealthMachine}: an event of one node, or the passing of time. */
public sealed interface HealthSignal {
    /** Metadata of the event. */
    EventMetadata metadata();

    /**
     * Metadata of an event.
     *
     * @param eventId id of the event; empty for the passing of time
     * @param at append time on the log
     * @param age time since it occurred; does not depend on the node's clock
     */
    record EventMetadata(String eventId, Instant at, Duration age) {}

    /**
     * Boot and incarnation of the reporting daemon.
     *
     * @param id boot id
     * @param epoch incarnation of the daemon; increases over its restarts
     * @param newMachine true when another machine took over the node name, so that a lower epoch is not older
     */
    record DaemonIncarnation(String id, long epoch, boolean newMachine) {}

    /** An event of a daemon. */
    sealed interface DaemonSignal extends HealthSignal {
        /** Boot and incarnation of the daemon. */
        DaemonIncarnation incarnation();
    }

    /**
     * A pod that held the device.
     *
     * @param podUid empty when unknown
     */
    record Holder(String namespace, String pod, String podUid, String container) {}

    /**
     * A fault as a daemon reports it.
     *
     * @param device GPU UUID; empty for a fault of the node
     */
    record ReportedFault(String device, String model, FaultCode code, FaultReport report) {}

    /**
     * A fault was observed.
     *
     * @param message untrusted text for people
     * @param holders pods that held the device at that instant
     */
    record FaultObserved(
            EventMetadata metadata,
            DaemonIncarnation incarnation,
            ReportedFault fault,
            String message,
            List<Holder> holders)
            implements DaemonSignal {
        /** GPU UUID; empty for a fault of the node. */
        public String device() {
            return fault.device();
        }

        /** The fault without its device. */
        public FaultCode code() {
            return fault.code();
        }
    }

    /** A fault is proven gone. */
    record FaultCleared(
            EventMetadata metadata, DaemonIncarnation incarnation, String device, FaultCode code, String proof)
            implements DaemonSignal {}

    /** One fault of a snapshot. */
    record OpenFault(ReportedFault fault, long observations) {
        /** GPU UUID; empty for a fault of the node. */
        public String device() {
            return fault.device();
        }

        /** The fault without its device. */
        public FaultCode code() {
            return fault.code();
        }
    }

    /**
     * Snapshot of all open faults that the daemon knows, and of the local health of each device.
     *
     * @param locallyHealthy by GPU UUID
     * @param knownSinceEpoch epoch of the first daemon whose faults it knows; 0 when it knows those of all
     */
    record FaultsOpen(
            EventMetadata metadata,
            DaemonIncarnation incarnation,
            List<OpenFault> faults,
            Map<String, Boolean> locallyHealthy,
            long knownSinceEpoch)
            implements DaemonSignal {}

    /** The daemon's local health of one device changed. */
    record LocalHealthChanged(
            EventMetadata metadata, DaemonIncarnation incarnation, String device, boolean locallyHealthy)
            implements DaemonSignal {}

    /**
     * A device of an announcement.
     *
     * @param identity what it is
     * @param lost true when it does not answer, or is no longer found
     */
    record AnnouncedDevice(String uuid, Device.Identity identity, boolean lost) {}

    /**
     * How much the absence of a device in an announcement says.
     *
     * @param knownSince since when the daemon keeps the set of its GPUs, by the node's clock; the epoch when it does not say
     * @param driverResponds false while no driver could list a device
     */
    record DaemonKnowledge(Instant knownSince, boolean driverResponds) {}

    /** Snapshot of the devices of a node; a device that is not listed is absent. */
    record DevicesAnnounced(
            EventMetadata metadata,
            DaemonIncarnation incarnation,
            List<AnnouncedDevice> devices,
            DaemonKnowledge knowledge)
            implements DaemonSignal {}

    /** The daemon stopped in order. */
    record DaemonDeparted(EventMetadata metadata, DaemonIncarnation incarnation) implements DaemonSignal {}

    /** The daemon became silent while others are heard, or is heard again. */
    record DaemonSilence(EventMetadata metadata, boolean silent) implements HealthSignal {}

    /** The daemon listed who holds devices. */
    record DevicesHeld(EventMetadata metadata, DaemonIncarnation incarnation, Holdings holdings)
            implements DaemonSignal {}

    /**
     * The reconciler drains the node, or waits with that.
     *
     * @param uid of the Node object
     * @param jobs that may lose pods on the node
     * @param message one line for people
     */
    record DrainReported(
            EventMetadata metadata, String uid, DrainProgress.Phase phase, List<String> jobs, String message)
            implements HealthSignal {
        /** Copies the list. */
        public DrainReported {
            jobs = List.copyOf(jobs);
        }
    }

    /**
     * An executor is asked for an action, or something was seen of that.
     *
     * @param message one line for people
     */
    record RemediationReported(
            EventMetadata metadata, Remediation remediation, RemediationProgress.Phase phase, String message)
            implements HealthSignal {}

    /** The Node object was observed. */
    record NodeObjectObserved(EventMetadata metadata, String uid, NodeReference.Placement placement)
            implements HealthSignal {}

    /** The Node object with this UID was deleted. */
    record NodeObjectDeleted(EventMetadata metadata, String uid) implements HealthSignal {}

    /** Our taint was removed while the annotation that lists it stayed. */
    record OverrideObserved(EventMetadata metadata, String target, String by, long revision) implements HealthSignal {}

    /** Commands of an operator. */
    enum Command {
        /** Take it out of service. */
        QUARANTINE,
        /** Return it to service. */
        RELEASE,
        /** Take it out of service for good; only for a quarantined device, which a quarantine brings back. */
        RETIRE,
        /** Forget the faults of a device, since it was repaired or replaced. */
        CLEAR,
        /** Forget a node without a Node object. */
        FORGET,
        /** Open the storm brake of the fleet. */
        RESET_BRAKE,
        /** Declare that people work on the node: nothing new is done to it. */
        BEGIN_MAINTENANCE,
        /** The work on the node is over. */
        END_MAINTENANCE,
        /** Do nothing new to any node, and change no Node object. */
        FREEZE,
        /** End that. */
        UNFREEZE
    }

    /**
     * Command of an authenticated operator.
     *
     * @param device GPU UUID; empty for a command about the node
     */
    record CommandIssued(EventMetadata metadata, Command command, String device, String user, String reason)
            implements HealthSignal {}

    /** A device of which another node remembers something was announced by this node; as it was there. */
    record DeviceArrived(EventMetadata metadata, Device device) implements HealthSignal {}

    /** Such a device was announced by another node. */
    record DeviceLeft(EventMetadata metadata, String device) implements HealthSignal {}

    /** Time passed. */
    record TimePassed(EventMetadata metadata) implements HealthSignal {
        /** A tick at this instant. */
        public static TimePassed at(Instant now) {
            return new TimePassed(new EventMetadata("", now, Duration.ZERO));
        }
    }
}
