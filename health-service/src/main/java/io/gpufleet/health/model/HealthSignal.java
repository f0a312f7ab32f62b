package io.gpufleet.health.model;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/** Everything that can move the machine of a node. */
public sealed interface HealthSignal {
    /** How it was heard. */
    Heard heard();

    /**
     * How a signal was heard.
     *
     * @param eventId id of the event; empty for the passing of time
     * @param at when it was appended to the log
     * @param age how long ago it happened; no node's clock is asked
     */
    record Heard(String eventId, Instant at, Duration age) {}

    /**
     * The boot in which a daemon spoke.
     *
     * @param id boot id
     * @param epoch epoch of the daemon
     * @param newMachine true when it is another machine under an old name, so that a lower epoch is no older
     */
    record Speaker(String id, long epoch, boolean newMachine) {}

    /** Something that a daemon said. */
    sealed interface OfDaemon extends HealthSignal {
        /** The boot in which it spoke. */
        Speaker speaker();
    }

    /**
     * A pod that held the device.
     *
     * @param podUid empty when unknown
     */
    record Holder(String namespace, String pod, String podUid, String container) {}

    /**
     * A fault was seen.
     *
     * @param device GPU UUID; empty when the whole node is concerned
     * @param message untrusted text for people
     * @param holders pods that held the device at that instant
     */
    record FaultObserved(
            Heard heard,
            Speaker speaker,
            String device,
            String model,
            FaultCode code,
            RecoveryAction action,
            String message,
            List<Holder> holders)
            implements OfDaemon {}

    /** A fault is proven gone. */
    record FaultCleared(Heard heard, Speaker speaker, String device, FaultCode code, String proof)
            implements OfDaemon {}

    /**
     * One fault of a snapshot.
     *
     * @param device GPU UUID; empty when the whole node is concerned
     */
    record OpenFault(String device, String model, FaultCode code, RecoveryAction action, long observations) {}

    /**
     * Every fault that is open now, and the daemon's opinion of each device; no fault but these is open.
     *
     * @param opinions by GPU UUID
     */
    record FaultsOpen(Heard heard, Speaker speaker, List<OpenFault> faults, Map<String, Boolean> opinions)
            implements OfDaemon {}

    /** The daemon's own opinion of one device changed. */
    record OfferChanged(Heard heard, Speaker speaker, String device, boolean locallyHealthy) implements OfDaemon {}

    /**
     * A device of an announcement.
     *
     * @param lost true when it does not answer, or is not found any more
     */
    record ListedDevice(String uuid, String model, boolean lost) {}

    /** What the node has; no device but these is there. */
    record DevicesAnnounced(Heard heard, Speaker speaker, List<ListedDevice> devices) implements OfDaemon {}

    /** The Node object was seen. */
    record NodeObjectSeen(Heard heard, String uid) implements HealthSignal {}

    /** The Node object with this UID is gone. */
    record NodeObjectGone(Heard heard, String uid) implements HealthSignal {}

    /** Somebody took our mark away and left the note that lists it. */
    record MarkRemoved(Heard heard, String mark, String by, long revision) implements HealthSignal {}

    /** What an operator can say. */
    enum Word {
        /** Take it out of service. */
        QUARANTINE,
        /** Put it back. */
        RELEASE,
        /** Give it up for good; only of a device that is quarantined. */
        RETIRE
    }

    /**
     * An authenticated person spoke.
     *
     * @param device GPU UUID; empty when the node as a whole is meant
     */
    record OperatorSpoke(Heard heard, Word word, String device, String user, String reason) implements HealthSignal {}

    /** Time passed. */
    record TimePassed(Heard heard) implements HealthSignal {
        /** Now. */
        public static TimePassed at(Instant now) {
            return new TimePassed(new Heard("", now, Duration.ZERO));
        }
    }
}
