package io.gpufleet.health.model.device;

import io.gpufleet.health.model.fault.Episode;
import io.gpufleet.health.model.fault.FaultCode;
import java.util.SequencedMap;
import java.util.TreeMap;

/**
 * Everything known about one device of a node.
 *
 * @param uuid GPU UUID
 * @param model product name; empty while unknown
 * @param listed true when the newest announcement of the node lists it
 * @param lost true when that announcement reports that it does not answer
 * @param locallyHealthy the daemon's own view, as last reported on the health topic
 * @param episodes open faults, by code
 * @param health state of the state machine
 * @param recurrence boots that ended its faults
 */
public record Device(
        String uuid,
        String model,
        boolean listed,
        boolean lost,
        boolean locallyHealthy,
        SequencedMap<FaultCode, Episode> episodes,
        DeviceHealth health,
        Recurrence recurrence) {
    /** Copies the episodes, sorted by code. */
    public Device {
        episodes = Episode.byCode(episodes.values());
    }

    /** A device before its first report. */
    public static Device unknown(String uuid, DeviceHealth.Healthy healthy) {
        return new Device(uuid, "", false, false, true, new TreeMap<>(), healthy, Recurrence.NONE);
    }

    /** True for a device that is no longer listed and has neither faults nor a state to remember. */
    public boolean forgettable() {
        return !listed && !lost && locallyHealthy && episodes.isEmpty() && health instanceof DeviceHealth.Healthy;
    }

    /** Copy with the content of an announcement; an empty model keeps the known one. */
    public Device withAnnouncement(String newModel, boolean isListed, boolean isLost) {
        String kept = newModel.isEmpty() ? model : newModel;
        return new Device(uuid, kept, isListed, isLost, locallyHealthy, episodes, health, recurrence);
    }

    /** Copy with the daemon's own view. */
    public Device withLocalHealth(boolean healthy) {
        return new Device(uuid, model, listed, lost, healthy, episodes, health, recurrence);
    }

    /** Copy with another state. */
    public Device with(DeviceHealth next) {
        return new Device(uuid, model, listed, lost, locallyHealthy, episodes, next, recurrence);
    }

    /** Copy with other open faults. */
    public Device with(SequencedMap<FaultCode, Episode> open) {
        return new Device(uuid, model, listed, lost, locallyHealthy, open, health, recurrence);
    }

    /** Copy with other boots that ended its faults. */
    public Device with(Recurrence other) {
        return new Device(uuid, model, listed, lost, locallyHealthy, episodes, health, other);
    }

    /** True when it has a fault that a former boot reported, or was lost and is not listed any more. */
    public boolean missing(String currentBoot) {
        return !listed
                && (lost
                        || episodes.values().stream()
                                .anyMatch(episode -> !episode.bootId().equals(currentBoot)));
    }
}
