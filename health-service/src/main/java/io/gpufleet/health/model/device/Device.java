package io.gpufleet.health.model.device;

import io.gpufleet.health.model.fault.Episode;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.fault.Faults;
import io.gpufleet.health.model.fault.RepairHistory;
import java.util.SequencedMap;

/**
 * Everything known about one device of a node.
 *
 * @param uuid GPU UUID
 * @param identity what it is
 * @param presence whether it is there
 * @param faults open faults, and what is remembered of former ones
 * @param health state of the state machine
 */
public record Device(String uuid, Identity identity, Presence presence, Faults faults, DeviceHealth health) {
    /**
     * Identity of a device.
     *
     * @param model product name; empty while unknown
     * @param serial serial number of its board; empty when unknown
     * @param slot PCI bus id; empty when unknown
     */
    public record Identity(String model, String serial, String slot) {
        /** Nothing is known. */
        public static final Identity UNKNOWN = new Identity("", "", "");

        /** Newer values, as far as there are any. */
        Identity updated(Identity newer) {
            return new Identity(
                    newer.model.isEmpty() ? model : newer.model,
                    newer.serial.isEmpty() ? serial : newer.serial,
                    newer.slot.isEmpty() ? slot : newer.slot);
        }
    }

    /**
     * Whether a device is there.
     *
     * @param listed true when the newest announcement of the node lists it
     * @param lost true when that announcement reports that it does not answer
     * @param locallyHealthy the daemon's own view, as last reported on the health topic
     * @param learned true since an announcement listed it, until it is replaced or an operator clears it
     */
    public record Presence(boolean listed, boolean lost, boolean locallyHealthy, boolean learned) {
        /** Never announced. */
        public static final Presence UNKNOWN = new Presence(false, false, true, false);
    }

    /** A device before its first report. */
    public static Device unknown(String uuid, DeviceHealth.Healthy healthy) {
        return new Device(uuid, Identity.UNKNOWN, Presence.UNKNOWN, Faults.NONE, healthy);
    }

    /** Product name; empty while unknown. */
    public String model() {
        return identity.model();
    }

    /** True when the newest announcement of the node lists it. */
    public boolean listed() {
        return presence.listed();
    }

    /** True when that announcement reports that it does not answer. */
    public boolean lost() {
        return presence.lost();
    }

    /** The daemon's own view, as last reported on the health topic. */
    public boolean locallyHealthy() {
        return presence.locallyHealthy();
    }

    /** Open faults, by code. */
    public SequencedMap<FaultCode, Episode> episodes() {
        return faults.open();
    }

    /** Its repair history. */
    public RepairHistory history() {
        return faults.history();
    }

    /** True for a device that is gone for good and has neither faults nor a state to remember; its history apart. */
    public boolean forgettable() {
        return !listed()
                && !lost()
                && !presence.learned()
                && locallyHealthy()
                && episodes().isEmpty()
                && health instanceof DeviceHealth.Healthy;
    }

    /** True while an operator keeps it out of service. */
    public boolean byHand() {
        return health instanceof DeviceHealth.Quarantined || health instanceof DeviceHealth.Retired;
    }

    /** True for a device that is known here only because an operator keeps it out of service. */
    public boolean onlyByHand(String currentBoot) {
        return byHand()
                && !listed()
                && !lost()
                && !presence.learned()
                && episodes().values().stream()
                        .noneMatch(episode -> episode.acts() || episode.bootId().equals(currentBoot));
    }

    /** True when something about it has to follow it to another node: why it is out of service, or what was tried. */
    public boolean follows() {
        return !history().attempts().isEmpty()
                || switch (health) {
                    case DeviceHealth.Unhealthy _,
                            DeviceHealth.Recovering _,
                            DeviceHealth.Quarantined _,
                            DeviceHealth.Retired _ -> true;
                    case DeviceHealth.Lost _ -> episodes().values().stream().anyMatch(Episode::acts);
                    case DeviceHealth.Healthy _, DeviceHealth.Suspect _ -> false;
                };
    }

    /** Copy with the content of an announcement; what it does not say is kept. */
    public Device withAnnouncement(Identity newer, boolean isListed, boolean isLost) {
        var now = new Presence(isListed, isLost, locallyHealthy(), presence.learned() || isListed);
        return new Device(uuid, identity.updated(newer), now, faults, health);
    }

    /** Copy of a device that the node is not expected to have any more. */
    public Device withoutLearning() {
        return new Device(uuid, identity, new Presence(listed(), false, locallyHealthy(), listed()), faults, health);
    }

    /** Copy with the daemon's own view. */
    public Device withLocalHealth(boolean healthy) {
        return new Device(uuid, identity, new Presence(listed(), lost(), healthy, presence.learned()), faults, health);
    }

    /** Copy with another state. */
    public Device with(DeviceHealth next) {
        return new Device(uuid, identity, presence, faults, next);
    }

    /** Copy with other faults. */
    public Device with(Faults others) {
        return new Device(uuid, identity, presence, others, health);
    }

    /** True when it has a fault that a former boot reported, or was lost and is not listed any more. */
    public boolean missing(String currentBoot) {
        return !listed()
                && (lost()
                        || episodes().values().stream()
                                .anyMatch(episode -> !episode.bootId().equals(currentBoot)));
    }
}
